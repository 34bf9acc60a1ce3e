"""Terms of a network without penalty: an output bias, a skip connection, biases of the first layer."""
