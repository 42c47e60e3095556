"""Robots: URDF and MJCF in, MJCF and joint angles out."""
