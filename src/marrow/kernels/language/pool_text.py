"""The functions of the pool of worker threads, in LLVM's language; `pool_code` says what they do and fills in what is open: `[[name]]`
loads a word of a job, `<<NAME>>` is a number or a piece of text."""

from __future__ import annotations

__all__ = ["TEXT"]

TEXT = """
%Code = type { ptr, i64 }
%Line = type [8 x i64]
@codes = internal constant [<<KERNELS>> x %Code] [<<TABLE>>]
@pool.state = internal global i64 0, align 64
@pool.cursor = internal global %Line zeroinitializer, align 64
@pool.busy = internal global i64 0, align 64
@pool.job = internal global ptr null
@pool.started = internal global i64 0
@pool.gates = internal global [<<MOST>> x ptr] zeroinitializer
@pool.asleep = internal global [<<MOST>> x %Line] zeroinitializer, align 64
declare ptr @PyThread_allocate_lock()
declare i32 @PyThread_acquire_lock(ptr, i32)
declare void @PyThread_release_lock(ptr)
declare <<LONG>> @PyThread_start_new_thread(ptr, ptr)
<<DECLARED>>

; Wakes a worker (or the caller, 0) if it sleeps.
define internal void @pool.wake(i64 %w) {
  %flag = getelementptr %Line, ptr @pool.asleep, i64 %w
  %before = atomicrmw xchg ptr %flag, i64 0 seq_cst
  %slept = icmp ne i64 %before, 0
  br i1 %slept, label %wake, label %done
wake:
  %gate.at = getelementptr ptr, ptr @pool.gates, i64 %w
  %gate = load ptr, ptr %gate.at
  call void @PyThread_release_lock(ptr %gate)
  br label %done
done:
  ret void
}

; Chunk number k on a frame.
define internal void @pool.chunk(ptr %job, ptr %frame, i64 %w, i64 %k) {
  [[begin]]
  [[end]]
  [[step]]
  [[first]]
  [[last]]
  [[worker]]
  [[chunk]]
  [[kernel]]
  [[results]]
  [[results_at]]
  [[results_count]]
  %offset = mul i64 %k, %step
  %from = add i64 %begin, %offset
  %next = add i64 %from, %step
  %less = icmp slt i64 %next, %end
  %to = select i1 %less, i64 %next, i64 %end
  %from.at = getelementptr i64, ptr %frame, i64 %first
  store i64 %from, ptr %from.at
  %to.at = getelementptr i64, ptr %frame, i64 %last
  store i64 %to, ptr %to.at
  %tells.worker = icmp sge i64 %worker, 0
  br i1 %tells.worker, label %tell.worker, label %after.worker
tell.worker:
  %worker.word = getelementptr i64, ptr %frame, i64 %worker
  store i64 %w, ptr %worker.word
  br label %after.worker
after.worker:
  %tells.chunk = icmp sge i64 %chunk, 0
  br i1 %tells.chunk, label %tell.chunk, label %run
tell.chunk:
  %chunk.word = getelementptr i64, ptr %frame, i64 %chunk
  store i64 %k, ptr %chunk.word
  br label %run
run:
  %code.at = getelementptr %Code, ptr @codes, i64 %kernel
  %code = load ptr, ptr %code.at
  call void %code(ptr %frame)
  %kept = icmp ne i64 %results, 0
  br i1 %kept, label %keep, label %done
keep:
  %width = add i64 %results_count, 1
  %row.offset = mul i64 %k, %width
  %all = inttoptr i64 %results to ptr
  %row = getelementptr i64, ptr %all, i64 %row.offset
  store i64 %w, ptr %row
  %source = getelementptr i64, ptr %frame, i64 %results_at
  br label %test
test:
  %i = phi i64 [ 0, %keep ], [ %i.next, %copy ]
  %more = icmp slt i64 %i, %results_count
  br i1 %more, label %copy, label %done
copy:
  %value.at = getelementptr i64, ptr %source, i64 %i
  %value = load i64, ptr %value.at
  %i.next = add i64 %i, 1
  %target = getelementptr i64, ptr %row, i64 %i.next
  store i64 %value, ptr %target
  br label %test
done:
  ret void
}

; How many chunks a job has.
define internal i64 @pool.chunks(ptr %job) {
  [[begin]]
  [[end]]
  [[step]]
  %length = sub i64 %end, %begin
  %rounded = add i64 %length, %step
  %less = sub i64 %rounded, 1
  %count = sdiv i64 %less, %step
  ret i64 %count
}

; The frame of a worker: its own copy, made now.
define internal ptr @pool.frame(ptr %job, i64 %w) {
  [[frame]]
  [[size]]
  [[copies]]
  [[own]]
  [[own_at]]
  [[own_values]]
  %whole = inttoptr i64 %frame to ptr
  %is.caller = icmp eq i64 %w, 0
  br i1 %is.caller, label %caller, label %other
caller:
  ret ptr %whole
other:
  %others = sub i64 %w, 1
  %wide = add i64 %size, 7
  %stride = and i64 %wide, -8
  %offset = mul i64 %others, %stride
  %room = inttoptr i64 %copies to ptr
  %mine = getelementptr i64, ptr %room, i64 %offset
  br label %test
test:
  %i = phi i64 [ 0, %other ], [ %i.next, %copy ]
  %more = icmp slt i64 %i, %size
  br i1 %more, label %copy, label %patches
copy:
  %source = getelementptr i64, ptr %whole, i64 %i
  %value = load i64, ptr %source
  %target = getelementptr i64, ptr %mine, i64 %i
  store i64 %value, ptr %target
  %i.next = add i64 %i, 1
  br label %test
patches:
  %places = inttoptr i64 %own_at to ptr
  %rows = inttoptr i64 %own_values to ptr
  %row.offset = mul i64 %others, %own
  %row = getelementptr i64, ptr %rows, i64 %row.offset
  br label %own.test
own.test:
  %o = phi i64 [ 0, %patches ], [ %o.next, %own.copy ]
  %own.more = icmp slt i64 %o, %own
  br i1 %own.more, label %own.copy, label %done
own.copy:
  %place.at = getelementptr i64, ptr %places, i64 %o
  %place = load i64, ptr %place.at
  %own.value.at = getelementptr i64, ptr %row, i64 %o
  %own.value = load i64, ptr %own.value.at
  %own.target = getelementptr i64, ptr %mine, i64 %place
  store i64 %own.value, ptr %own.target
  %o.next = add i64 %o, 1
  br label %own.test
done:
  ret ptr %mine
}

; Takes chunks until there are none.
define internal void @pool.work(ptr %job, i64 %w) {
  %chunks = call i64 @pool.chunks(ptr %job)
  %first = atomicrmw add ptr @pool.cursor, i64 1 seq_cst
  %any = icmp slt i64 %first, %chunks
  br i1 %any, label %begin, label %done
begin:
  %frame = call ptr @pool.frame(ptr %job, i64 %w)
  br label %next
next:
  %k = phi i64 [ %first, %begin ], [ %another, %next ]
  call void @pool.chunk(ptr %job, ptr %frame, i64 %w, i64 %k)
  %another = atomicrmw add ptr @pool.cursor, i64 1 seq_cst
  %more = icmp slt i64 %another, %chunks
  br i1 %more, label %next, label %done
done:
  ret void
}

; The life of a worker.
define internal void @pool.live(ptr %number) {
  %w = ptrtoint ptr %number to i64
  %flag = getelementptr %Line, ptr @pool.asleep, i64 %w
  %gate.at = getelementptr ptr, ptr @pool.gates, i64 %w
  %gate = load ptr, ptr %gate.at
  %seen = alloca i64
  store i64 -1, ptr %seen
  br label %top
top:
  br label %spin
spin:
  %turn = phi i64 [ 0, %top ], [ %turn.next, %still ]
  %s = load atomic i64, ptr @pool.state seq_cst, align 8
  %last = load i64, ptr %seen
  %number.now = lshr i64 %s, <<NUMBER>>
  %new = icmp ne i64 %number.now, %last
  %open.bit = and i64 %s, <<OPEN>>
  %open = icmp ne i64 %open.bit, 0
  %call = and i1 %new, %open
  br i1 %call, label %join, label %still
still:
  <<PAUSE>>
  %turn.next = add i64 %turn, 1
  %patient = icmp slt i64 %turn.next, <<SPINS>>
  br i1 %patient, label %spin, label %sleepy
sleepy:
  %ignored = atomicrmw xchg ptr %flag, i64 1 seq_cst
  %s2 = load atomic i64, ptr @pool.state seq_cst, align 8
  %number2 = lshr i64 %s2, <<NUMBER>>
  %new2 = icmp ne i64 %number2, %last
  %open.bit2 = and i64 %s2, <<OPEN>>
  %open2 = icmp ne i64 %open.bit2, 0
  %call2 = and i1 %new2, %open2
  br i1 %call2, label %called, label %sleep
called:
  %mine = atomicrmw xchg ptr %flag, i64 0 seq_cst
  %untouched = icmp ne i64 %mine, 0
  br i1 %untouched, label %top, label %sleep
sleep:
  %woken = call i32 @PyThread_acquire_lock(ptr %gate, i32 1)
  br label %top
join:
  %s.more = add i64 %s, 1
  %pair = cmpxchg ptr @pool.state, i64 %s, i64 %s.more seq_cst seq_cst
  %joined = extractvalue { i64, i1 } %pair, 1
  br i1 %joined, label %inside, label %top
inside:
  store i64 %number.now, ptr %seen
  %job = load ptr, ptr @pool.job
  [[workers]]
  %wanted = icmp slt i64 %w, %workers
  br i1 %wanted, label %work, label %leave
work:
  call void @pool.work(ptr %job, i64 %w)
  br label %leave
leave:
  %before = atomicrmw sub ptr @pool.state, i64 1 seq_cst
  %after = sub i64 %before, 1
  %rest = and i64 %after, <<QUIET>>
  %quiet = icmp eq i64 %rest, 0
  br i1 %quiet, label %tell, label %top
tell:
  call void @pool.wake(i64 0)
  br label %top
}

; Has so many workers, as far as threads can be started; returns how many there are, the caller among them.
define internal i64 @pool.staff(i64 %wanted) {
  %few = icmp slt i64 %wanted, <<MOST>>
  %limit = select i1 %few, i64 %wanted, i64 <<MOST>>
  br label %test
test:
  %n = load i64, ptr @pool.started
  %more = icmp slt i64 %n, %limit
  br i1 %more, label %start, label %done
start:
  %gate = call ptr @PyThread_allocate_lock()
  %none = icmp eq ptr %gate, null
  br i1 %none, label %done, label %close
close:
  %held = call i32 @PyThread_acquire_lock(ptr %gate, i32 1)
  %gate.at = getelementptr ptr, ptr @pool.gates, i64 %n
  store ptr %gate, ptr %gate.at
  %is.caller = icmp eq i64 %n, 0
  br i1 %is.caller, label %count, label %thread
thread:
  %number = inttoptr i64 %n to ptr
  %id = call <<LONG>> @PyThread_start_new_thread(ptr @pool.live, ptr %number)
  %refused = icmp eq <<LONG>> %id, -1
  br i1 %refused, label %done, label %count
count:
  %n.next = add i64 %n, 1
  store i64 %n.next, ptr @pool.started
  br label %test
done:
  %there = load i64, ptr @pool.started
  %fewer = icmp slt i64 %there, %limit
  %got = select i1 %fewer, i64 %there, i64 %limit
  ret i64 %got
}

; One job, from its first chunk to its last.
define internal void @pool.run(ptr %job) {
  [[workers]]
  %chunks = call i64 @pool.chunks(ptr %job)
  %several.chunks = icmp sgt i64 %chunks, 1
  %several.workers = icmp sgt i64 %workers, 1
  %several = and i1 %several.chunks, %several.workers
  br i1 %several, label %ask, label %alone
ask:
  %pair = cmpxchg ptr @pool.busy, i64 0, i64 1 seq_cst seq_cst
  %granted = extractvalue { i64, i1 } %pair, 1
  br i1 %granted, label %together, label %alone
together:
  %fewer = icmp slt i64 %chunks, %workers
  %useful = select i1 %fewer, i64 %chunks, i64 %workers
  %staff = call i64 @pool.staff(i64 %useful)
  store ptr %job, ptr @pool.job
  store atomic i64 0, ptr @pool.cursor seq_cst, align 8
  %s = load atomic i64, ptr @pool.state seq_cst, align 8
  %number = lshr i64 %s, <<NUMBER>>
  %number.next = add i64 %number, 1
  %shifted = shl i64 %number.next, <<NUMBER>>
  %opened = or i64 %shifted, <<OPEN>>
  %ignored = atomicrmw xchg ptr @pool.state, i64 %opened seq_cst
  br label %wake.test
wake.test:
  %w = phi i64 [ 1, %together ], [ %w.next, %wake ]
  %sleepers = icmp slt i64 %w, %staff
  br i1 %sleepers, label %wake, label %work
wake:
  call void @pool.wake(i64 %w)
  %w.next = add i64 %w, 1
  br label %wake.test
work:
  call void @pool.work(ptr %job, i64 0)
  %closed = atomicrmw and ptr @pool.state, i64 <<CLOSED>> seq_cst
  br label %wait
wait:
  br label %spin
spin:
  %turn = phi i64 [ 0, %wait ], [ %turn.next, %still ]
  %now = load atomic i64, ptr @pool.state seq_cst, align 8
  %inside = and i64 %now, <<INSIDE>>
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %free, label %still
still:
  <<PAUSE>>
  %turn.next = add i64 %turn, 1
  %patient = icmp slt i64 %turn.next, <<SPINS>>
  br i1 %patient, label %spin, label %sleepy
sleepy:
  %set = atomicrmw xchg ptr @pool.asleep, i64 1 seq_cst
  %now2 = load atomic i64, ptr @pool.state seq_cst, align 8
  %inside2 = and i64 %now2, <<INSIDE>>
  %empty2 = icmp eq i64 %inside2, 0
  br i1 %empty2, label %called, label %sleep
called:
  %mine = atomicrmw xchg ptr @pool.asleep, i64 0 seq_cst
  %untouched = icmp ne i64 %mine, 0
  br i1 %untouched, label %wait, label %sleep
sleep:
  %gate = load ptr, ptr @pool.gates
  %woken = call i32 @PyThread_acquire_lock(ptr %gate, i32 1)
  br label %wait
free:
  store atomic i64 0, ptr @pool.busy seq_cst, align 8
  ret void
alone:
  [[frame]]
  %place = inttoptr i64 %frame to ptr
  br label %alone.test
alone.test:
  %k = phi i64 [ 0, %alone ], [ %k.next, %alone.chunk ]
  %more = icmp slt i64 %k, %chunks
  br i1 %more, label %alone.chunk, label %done
alone.chunk:
  call void @pool.chunk(ptr %job, ptr %place, i64 0, i64 %k)
  %k.next = add i64 %k, 1
  br label %alone.test
done:
  ret void
}

; spread(jobs): runs jobs one after the other.
define internal ptr @call.spread(ptr %self, ptr %jobs) {
  %view = alloca [80 x i8], align 8
  %failed = call i32 @PyObject_GetBuffer(ptr %jobs, ptr %view, i32 1)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %fail, label %held
held:
  <<LENGTH>>
  %words = load ptr, ptr %view
  %there = icmp uge i64 %bytes, 8
  br i1 %there, label %count, label %refuse
count:
  %n = load i64, ptr %words
  %size = mul i64 %n, <<WORDS>>
  %whole = add i64 %size, <<HEAD>>
  %needed = shl i64 %whole, 3
  %some = icmp ule i64 %n, 1048576
  %enough = icmp uge i64 %bytes, %needed
  %sound = and i1 %some, %enough
  br i1 %sound, label %check, label %refuse
check:
  %c = phi i64 [ 0, %count ], [ %c.next, %good ]
  %unchecked = icmp slt i64 %c, %n
  br i1 %unchecked, label %look, label %run
look:
  %c.offset = mul i64 %c, <<WORDS>>
  %c.at = add i64 %c.offset, <<HEAD>>
  %job = getelementptr i64, ptr %words, i64 %c.at
  [[kernel]]
  %size.place = getelementptr i64, ptr %job, i64 <<SIZE>>
  %size.given = load i64, ptr %size.place
  [[step]]
  %known = icmp ult i64 %kernel, <<KERNELS>>
  %steps = icmp sgt i64 %step, 0
  %fine = and i1 %known, %steps
  br i1 %fine, label %measure, label %refuse
measure:
  %frame.at = getelementptr %Code, ptr @codes, i64 %kernel, i32 1
  %frame.size = load i64, ptr %frame.at
  %long = icmp uge i64 %size.given, %frame.size
  br i1 %long, label %good, label %refuse
good:
  %c.next = add i64 %c, 1
  br label %check
refuse:
  call void @PyBuffer_Release(ptr %view)
  %error = load ptr, ptr @PyExc_ValueError
  call void @PyErr_SetString(ptr %error, ptr <<MALFORMED>>)
  br label %fail
run:
  %thread = call ptr @PyEval_SaveThread()
  br label %next
next:
  %j = phi i64 [ 0, %run ], [ %j.next, %one ]
  %more = icmp slt i64 %j, %n
  br i1 %more, label %one, label %end
one:
  %j.offset = mul i64 %j, <<WORDS>>
  %j.at = add i64 %j.offset, <<HEAD>>
  %this = getelementptr i64, ptr %words, i64 %j.at
  call void @pool.run(ptr %this)
  %j.next = add i64 %j, 1
  br label %next
end:
  call void @PyEval_RestoreThread(ptr %thread)
  call void @PyBuffer_Release(ptr %view)
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
fail:
  ret ptr null
}

; forget(): there are no workers. A forked child has none of its parent's threads.
define internal ptr @call.forget(ptr %self, ptr %nothing) {
  store i64 0, ptr @pool.started
  store i64 0, ptr @pool.busy
  store i64 0, ptr @pool.state
  br label %next
next:
  %w = phi i64 [ 0, %0 ], [ %w.next, %next ]
  %flag = getelementptr %Line, ptr @pool.asleep, i64 %w
  store i64 0, ptr %flag
  %w.next = add i64 %w, 1
  %more = icmp slt i64 %w.next, <<MOST>>
  br i1 %more, label %next, label %done
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
}

; workers(): how many threads there are, besides the caller's.
define internal ptr @call.workers(ptr %self, ptr %nothing) {
  %n = load i64, ptr @pool.started
  %some = icmp sgt i64 %n, 0
  %others = sub i64 %n, 1
  %count = select i1 %some, i64 %others, i64 0
  %address = inttoptr i64 %count to ptr
  %number = call ptr @PyLong_FromVoidPtr(ptr %address)
  ret ptr %number
}
"""
