"""Operations: one module per family, one record per operation."""
