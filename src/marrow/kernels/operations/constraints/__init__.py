"""What constraints do to a pose: functions of the kernels' language, and each one's specification in float64
(`reference`)."""
