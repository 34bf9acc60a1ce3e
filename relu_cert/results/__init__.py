"""What the functions of the Python interface return: verdicts, objects, certificates."""
