#include "report.hpp"

#include <cctype>

#include "json_text.hpp"
#include "table.hpp"

namespace sluice::gpu_probe {
namespace {

std::string row_json(const Row& row) {
  return JsonObject()
      .text("case", row.name)
      .text("unit", row.unit)
      .number("repeats", static_cast<double>(row.summary.count))
      .number("median", row.summary.median)
      .number("lower_quartile", row.summary.lower_quartile)
      .number("upper_quartile", row.summary.upper_quartile)
      .number("minimum", row.summary.minimum)
      .number("maximum", row.summary.maximum)
      .number("expected_low", row.expected.low)
      .number("expected_high", row.expected.high)
      .text("verdict", row.verdict())
      .str();
}

std::string probe_json(const ProbeRecord& probe) {
  std::vector<std::string> rows;
  for (const Row& row : probe.rows) {
    rows.push_back(row_json(row));
  }
  std::vector<std::string> notes;
  for (const std::string& note : probe.notes) {
    notes.push_back(json_string(note));
  }
  return JsonObject()
      .number("number", probe.number)
      .text("title", probe.title)
      .text("expectation", probe.expectation)
      .json("rows", json_array(rows))
      .json("notes", json_array(notes))
      .text("failure", probe.failure)
      .str();
}

}  // namespace

std::string Row::verdict() const {
  if (!expected.known()) {
    return "finding";
  }
  if (summary.median < expected.low) {
    return "below";
  }
  return summary.median > expected.high ? "above" : "as expected";
}

std::string to_json(const Report& report) {
  JsonObject facts;
  for (const auto& [name, value] : report.facts) {
    facts.text(name, value);
  }
  std::vector<std::string> probes;
  for (const ProbeRecord& probe : report.probes) {
    probes.push_back(probe_json(probe));
  }
  return JsonObject()
             .text("gpu", report.gpu)
             .text("date", report.date)
             .json("facts", facts.str())
             .json("probes", json_array(probes))
             .str() +
         '\n';
}

std::string to_markdown(const Report& report) {
  std::string out = "# GPU probes: " + report.gpu + ", " + report.date + "\n\n";
  out += "Made by `scripts/gpu-probe`; `docs/gpu-probes.md` says what each probe does.\n\n";
  out += "| fact | value |\n| --- | --- |\n";
  for (const auto& [name, value] : report.facts) {
    out += "| " + name + " | " + value + " |\n";
  }
  for (const ProbeRecord& probe : report.probes) {
    out += "\n## " + std::to_string(probe.number) + ". " + probe.title + "\n\n";
    out += "Expected: " + probe.expectation + "\n\n";
    if (!probe.rows.empty()) {
      out += markdown_header();
    }
    for (const Row& row : probe.rows) {
      out += markdown_line(row);
    }
    for (const std::string& note : probe.notes) {
      out += "\n" + note + "\n";
    }
    if (!probe.failure.empty()) {
      out += "\n**Failed:** " + probe.failure + "\n";
    }
  }
  return out;
}

std::string result_stem(const std::string& gpu, const std::string& date) {
  std::string name;
  for (const char c : gpu) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') {
    name.pop_back();
  }
  return "gpu-probe-" + name + '-' + date;
}

}  // namespace sluice::gpu_probe
