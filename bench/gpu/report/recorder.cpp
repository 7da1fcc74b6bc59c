#include "recorder.hpp"

#include <stdexcept>

#include "table.hpp"

namespace sluice::gpu_probe {

void Recorder::begin(int number, const std::string& title, const std::string& expectation) {
  ProbeRecord probe;
  probe.number = number;
  probe.title = title;
  probe.expectation = expectation;
  report_.probes.push_back(probe);
  out_ << '\n' << number << ". " << title << "\nExpected: " << expectation << '\n';
  out_ << table_header() << std::flush;
}

void Recorder::row(const std::string& name, const std::string& unit,
                   const std::vector<double>& samples, Range expected) {
  Row row;
  row.name = name;
  row.unit = unit;
  row.summary = summarize(samples);
  row.expected = expected;
  out_ << table_line(row) << std::flush;
  current().rows.push_back(row);
}

void Recorder::note(const std::string& text) {
  out_ << "  " << text << '\n' << std::flush;
  current().notes.push_back(text);
}

void Recorder::fail(const std::string& reason) {
  out_ << "  FAILED: " << reason << '\n' << std::flush;
  current().failure = reason;
  failed_ = true;
}

ProbeRecord& Recorder::current() {
  if (report_.probes.empty()) {
    throw std::logic_error("Recorder: begin() was not called");
  }
  return report_.probes.back();
}

}  // namespace sluice::gpu_probe
