"""Operations: values that know the steps of one verb. They do no I/O; a store runs them."""
