"""PyTorch's ``nn.utils``: names from modules that say what they hold."""

from vkml_nn.gradients import clip_grad_norm_, clip_grad_value_, get_total_norm
from vkml_nn.parameter_vector import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "get_total_norm", "parameters_to_vector",
    "vector_to_parameters",
]  # fmt: skip
