"""What code for Windows calls before it takes more than a page of stack: the system adds pages one by one, as each is touched.

C's library has these functions; modules have no C library. The calling conventions are the system's: nothing but scratch registers may
change.
"""

from __future__ import annotations

__all__ = ["stack_probe"]

# ___chkstk_ms: rax is the size in bytes. Every register is kept.
_X86_64 = """
.globl ___chkstk_ms
___chkstk_ms:
    pushq %rax
    pushq %rcx
    leaq 24(%rsp), %rcx        # the stack's end before the call
1:  cmpq $4096, %rax
    jb 2f
    subq $4096, %rcx
    orq $0, (%rcx)
    subq $4096, %rax
    jmp 1b
2:  subq %rax, %rcx
    orq $0, (%rcx)
    popq %rcx
    popq %rax
    retq
"""
# __chkstk: x15 is the size in units of 16 bytes, and is kept; x16 and x17 are for functions between caller and callee.
_ARM64 = """
.globl __chkstk
__chkstk:
    lsl x16, x15, #4
    mov x17, sp
1:  cmp x16, #4096
    b.lo 2f
    sub x17, x17, #4096
    ldr xzr, [x17]
    sub x16, x16, #4096
    b 1b
2:  sub x17, x17, x16
    ldr xzr, [x17]
    ret
"""


def stack_probe(triple: str) -> bytes:
    """In assembler."""
    return (_X86_64 if triple.startswith("x86_64") else _ARM64).encode()
