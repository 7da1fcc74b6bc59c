// The eight probes. Each says what it expects and why through the recorder, then measures.
#pragma once

namespace sluice::gpu_probe {

struct Device;
class Recorder;

// All throw ProbeFailure where a CUDA call fails, a wait runs out or a result is wrong.
void probe_launch_gap(const Device& device, Recorder& recorder);
void probe_tickets(const Device& device, Recorder& recorder);
void probe_flags(const Device& device, Recorder& recorder);
void probe_barriers(const Device& device, Recorder& recorder);
void probe_task_overhead(const Device& device, Recorder& recorder);
void probe_order(const Device& device, Recorder& recorder);
void probe_visibility(const Device& device, Recorder& recorder);
void probe_registers(const Device& device, Recorder& recorder);

}  // namespace sluice::gpu_probe
