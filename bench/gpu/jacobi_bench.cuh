// Runs the Jacobi steps of probes 6 and 8 on the GPU, as launches and in the worker loop, and
// compares their results.
#pragma once
#include "device.cuh"
#include "jacobi.hpp"
#include "worker_run.cuh"

namespace sluice::gpu_probe {

// How the body gets into the code that runs.
enum class Form {
  launches,  // its own kernel, a launch a step
  inlined,   // in the worker loop
  called,    // a function that the worker loop calls
};

// What the compiler made of a form, for this GPU.
struct FormFacts {
  int registers = 0;
  std::size_t local_bytes = 0;  // a thread's stack and spills
  int blocks_per_sm = 0;
};

FormFacts form_facts(Form form);

// JacobiBench holds a plate in device memory. Times are microseconds for jacobi_steps steps.
class JacobiBench {
 public:
  explicit JacobiBench(Plate plate);

  // run_launches() runs the steps as launches, in stream order.
  double run_launches();

  // use_order() sets the order that run_workers() takes; it must be valid (order.hpp).
  void use_order(const std::vector<std::uint32_t>& order);

  // run_workers() runs the worker loop and checks that each task ran once.
  double run_workers(Form form, int workers);

  // keep_as_reference() keeps the last run's result; require_equal() throws ProbeFailure unless the
  // last run's result is the same to the bit.
  void keep_as_reference();
  void require_equal(const std::string& what) const;

  // result() copies the last run's result to the host.
  std::vector<float> result() const;

  // gcells_per_s() turns a time of jacobi_steps steps into a rate.
  double gcells_per_s(double microseconds) const;

 private:
  void fill();

  Plate plate_;
  Buffer<float> even_;
  Buffer<float> odd_;
  Buffer<float> reference_;
  Buffer<unsigned> order_;
  WorkerRun run_;
  Stream stream_;
  Stopwatch stopwatch_;
};

}  // namespace sluice::gpu_probe
