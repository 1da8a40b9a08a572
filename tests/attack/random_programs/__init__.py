"""Random programs, run by torch and by norch: their statements, how two runs are compared, findings made short."""
