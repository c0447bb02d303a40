import vkml


def test_view_of_a_result_whose_axes_lie_in_another_order_shows_its_elements() -> None:
    # NumPy keeps the order of its operands' axes, so this result owns memory in neither C nor
    # Fortran order.
    doubled = vkml.arange(24).reshape(2, 3, 4).permute(0, 2, 1) * 2

    view = doubled.permute(1, 0, 2)

    assert view.shape == (4, 2, 3)
    assert view[1].tolist() == [[2, 10, 18], [26, 34, 42]]
