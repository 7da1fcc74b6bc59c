#include "hostcuda/jit/library/directed_double.hpp"

#include <cmath>

#include <immintrin.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ModRef.h>

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// in_mode() computes with the processor in one rounding mode. Operands and result pass through
// volatile variables, so that the compiler moves nothing across the switches; the thread's
// exception flags come out as they were.
template <unsigned mode, class Function, class... Doubles>
double in_mode(Function function, Doubles... operands) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~unsigned{_MM_ROUND_MASK}) | mode);
  const auto pinned = [](double value) {
    const volatile double here = value;
    return static_cast<double>(here);
  };
  const volatile double result = function(pinned(operands)...);
  const double value = result;
  _mm_setcsr(before);
  return value;
}

template <unsigned mode>
double add(double a, double b) {
  return in_mode<mode>([](double x, double y) { return x + y; }, a, b);
}
template <unsigned mode>
double mul(double a, double b) {
  return in_mode<mode>([](double x, double y) { return x * y; }, a, b);
}
template <unsigned mode>
double div(double a, double b) {
  return in_mode<mode>([](double x, double y) { return x / y; }, a, b);
}
template <unsigned mode>
double fma(double a, double b, double c) {
  return in_mode<mode>([](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);
}
template <unsigned mode>
double sqrt(double a) {
  return in_mode<mode>([](double x) { return _mm_cvtsd_f64(_mm_sqrt_pd(_mm_set1_pd(x))); }, a);
}
template <unsigned mode>
double rcp(double a) {
  return div<mode>(1.0, a);
}

template <class F>
void* entry_of(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

const std::vector<DirectedFunction>& directed_functions() {
#define SLUICE_DIRECTED(name)                                                                     \
  {Intrinsic::nvvm_##name##_rz_d, "sluice_" #name "_rz", entry_of(&name<_MM_ROUND_TOWARD_ZERO>)}, \
      {Intrinsic::nvvm_##name##_rm_d, "sluice_" #name "_rm", entry_of(&name<_MM_ROUND_DOWN>)}, {  \
    Intrinsic::nvvm_##name##_rp_d, "sluice_" #name "_rp", entry_of(&name<_MM_ROUND_UP>)           \
  }
  static const auto* functions = new std::vector<DirectedFunction>{
      SLUICE_DIRECTED(add), SLUICE_DIRECTED(mul),  SLUICE_DIRECTED(div),
      SLUICE_DIRECTED(fma), SLUICE_DIRECTED(sqrt), SLUICE_DIRECTED(rcp)};
#undef SLUICE_DIRECTED
  return *functions;
}

Value* call_directed(Intrinsic::ID id, ArrayRef<Value*> operands, IRBuilder<>& ir) {
  for (const DirectedFunction& known : directed_functions()) {
    if (known.intrinsic != id) continue;
    SmallVector<Type*, 3> types(operands.size(), ir.getDoubleTy());
    FunctionCallee callee = ir.GetInsertBlock()->getModule()->getOrInsertFunction(
        known.symbol, FunctionType::get(ir.getDoubleTy(), types, false));
    auto* function = cast<Function>(callee.getCallee());
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setMemoryEffects(MemoryEffects::none());
    return ir.CreateCall(callee, operands);
  }
  return nullptr;
}

}  // namespace sluice::hostcuda::jit
