"""What the functions of the Python interface return, one module for each command: verdicts, objects, certificates."""
