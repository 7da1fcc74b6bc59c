// Probe 8: what the worker loop does to the registers and occupancy of its body.
#include "jacobi_bench.cuh"
#include "probes.hpp"
#include "report/recorder.hpp"

namespace sluice::gpu_probe {
namespace {

const char* name_of(Form form) {
  switch (form) {
    case Form::launches:
      return "own kernel";
    case Form::inlined:
      return "inlined in the worker loop";
    case Form::called:
      return "called by the worker loop";
  }
  return "";
}

// A fact of the compiled code is read once: repeats would only repeat it.
void record_fact(Recorder& recorder, const std::string& name, const std::string& unit, double value,
                 Range expected = {}) {
  recorder.row(name, unit, {value}, expected);
}

void probe_form(const Device& device, Recorder& recorder, JacobiBench& bench, Form form,
                const std::string& size) {
  const std::string name = std::string(name_of(form)) + ", " + size;
  const int workers = form_facts(form).blocks_per_sm * device.sm_count;
  const std::vector<double> rates = measure([&] {
    return bench.gcells_per_s(form == Form::launches ? bench.run_launches()
                                                     : bench.run_workers(form, workers));
  });
  if (form == Form::launches) {
    bench.keep_as_reference();
  } else {
    bench.require_equal(name);
  }
  recorder.row(name, "Gcells/s", rates);
}

}  // namespace

void probe_registers(const Device& device, Recorder& recorder) {
  recorder.begin(
      8, "Registers",
      "a loop around a body keeps its own state (ticket, table, addresses) alive across it: 10 to "
      "20 registers more than the body's own kernel if inlined (15 was the median of kernels that "
      "were assembled), about 10 more again through a call, whose convention fixes registers, but "
      "no stack. Occupancy falls where that passes a step of the register file (32, 40, 48, 64 for "
      "256 threads). A memory-bound body loses little by it.");
  constexpr Form forms[] = {Form::launches, Form::inlined, Form::called};
  for (const Form form : forms) {
    const FormFacts facts = form_facts(form);
    record_fact(recorder, name_of(form), "registers", facts.registers, {20, 80});
    record_fact(recorder, name_of(form), "B stack", static_cast<double>(facts.local_bytes),
                form == Form::called ? Range{0, 32} : Range{0, 0});
    record_fact(recorder, name_of(form), "blocks/SM", facts.blocks_per_sm, {2, 8});
  }
  for (const double l2_share : {0.5, 4.0}) {
    const std::string size = l2_share < 1 ? "0.5 x L2" : "4 x L2";
    JacobiBench bench(
        plate_of(static_cast<std::size_t>(l2_share * static_cast<double>(device.l2_bytes))));
    for (const Form form : forms) {
      probe_form(device, recorder, bench, form, size);
    }
  }
}

}  // namespace sluice::gpu_probe
