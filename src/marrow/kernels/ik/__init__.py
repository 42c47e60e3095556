"""Inverse kinematics of whole bodies: damped least squares over a tree of joints, 16 characters or frames side by
side.

`work` says what the kernel reads and writes, `exchange` brings poses into lanes and back, `tree` has forward
kinematics and the elimination, `effectors` and `limits` the residuals, `solve` the kernel itself; `rows` and
`row_solver` have what graphs do around it, on the CPU and in shaders. `marrow.ik` is what people use.
"""
