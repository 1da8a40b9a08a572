"""Random programs, run by torch and by norch: what they are made of, how two runs are compared and findings shortened."""
