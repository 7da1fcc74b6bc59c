// What programs write by hand: predicates, named barriers, cache hints, special registers.
__managed__ int managed_counter;

extern "C" __global__ void inline_assembly(const float4* in, unsigned* out) {
  unsigned result, lane, smid;
  unsigned long long clock, wide;
  float4 v;
  asm volatile("mov.u32 %0, %%laneid; mov.u32 %1, %%smid;" : "=r"(lane), "=r"(smid));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(clock));
  asm("{ .reg .pred p, q; setp.gt.u32 p|q, %1, 4; @p mov.u32 %0, 1; @!p mov.u32 %0, 2; }"
      : "=r"(result)
      : "r"(lane));
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(lane), "r"(smid), "l"(clock));
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4 + 16];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(in));
  asm volatile("bar.sync 1, 64;" ::: "memory");
  asm volatile("barrier.cta.arrive 2, 64;" ::: "memory");
  asm volatile("add.cc.u32 %0, %0, %1; addc.u32 %0, %0, 0;" : "+r"(result) : "r"(lane));
  out[lane] = result + unsigned(wide) + unsigned(v.x + v.y + v.z + v.w) + managed_counter;
}
