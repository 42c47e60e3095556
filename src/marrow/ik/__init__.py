"""`mw.ik`: inverse kinematics of whole bodies, limbs and chains, for one pose or ten thousand.

reach = mw.ik.Solver(hero, ["@left_hand", "@right_hand", "@left_foot", "@right_foot"])
solved = reach.solve(pose, {"@left_hand": (0.3, 1.4, 0.4)})
solved.pose, solved.distance
"""

from marrow.ik.clip_solving import SolvedClip
from marrow.ik.effector import Effector, Goal
from marrow.ik.joint_limits import JointLimit, JointLimits
from marrow.ik.solver import Solved, Solver

__all__ = ["Effector", "Goal", "JointLimit", "JointLimits", "Solved", "SolvedClip", "Solver"]
