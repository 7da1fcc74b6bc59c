#include "tools/check/recorded_faults.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "runtime/calls/call_place.hpp"
#include "tools/check/call_lines.hpp"

namespace sluice::tools {
namespace {

using nlohmann::json;

// name_lines() puts the lines of calls behind the words for them. The fault's own line, where it
// has none, is that of its call.
void name_lines(RecordedFault& fault, CallLines& lines) {
  const auto named = [&](const std::string& text) {
    return runtime::replace_marks(text, [&](const runtime::CallPlaces& call) {
      const std::optional<SourceLine> line = lines.line_of(call);
      if (!line) return std::string();
      const std::string name = std::filesystem::path(line->file).filename().string();
      return fmt::format(" at {}:{}", name, line->line);
    });
  };
  fault.message = named(fault.message);
  for (std::string& detail : fault.details)
    detail = named(detail);
  fault.site = runtime::replace_marks(fault.site, [&](const runtime::CallPlaces& call) {
    const std::optional<SourceLine> line = lines.line_of(call);
    if (line && fault.line == 0) {
      fault.file = line->file;
      fault.line = line->line;
      fault.is_line_of_call = true;
    }
    return std::string();
  });
}

RecordedFault fault_of(const json& line) {
  const json& from = line.at("fault");
  RecordedFault fault;
  from.at("kind").get_to(fault.kind);
  from.at("rule").get_to(fault.rule);
  from.at("certain").get_to(fault.is_certain);
  from.at("kernel").get_to(fault.kernel);
  from.at("message").get_to(fault.message);
  from.at("details").get_to(fault.details);
  from.at("site").get_to(fault.site);
  from.at("file").get_to(fault.file);
  from.at("line").get_to(fault.line);
  line.at("program").get_to(fault.program);
  fault.processes.insert(line.at("process").get<uint64_t>());
  return fault;
}

void add(RecordedChecks& checks, const json& more) {
  ++checks.processes;
  checks.launches += more.at("launches").get<uint64_t>();
  checks.whole += more.at("whole").get<uint64_t>();
  checks.copies += more.at("copies").get<uint64_t>();
  for (const auto& [reason, count] : more.at("in_part").items())
    checks.in_part[reason] += count.get<uint64_t>();
  for (const auto& [reason, count] : more.at("unchecked").items())
    checks.unchecked[reason] += count.get<uint64_t>();
}

// Ranks and forked children find the same.
void add(std::vector<RecordedFault>& faults, RecordedFault fault) {
  const auto is_same = [&](const RecordedFault& other) {
    return other.key() == fault.key() && other.file == fault.file && other.line == fault.line;
  };
  const auto known = std::ranges::find_if(faults, is_same);
  if (known == faults.end()) {
    faults.push_back(std::move(fault));
  } else {
    known->processes.merge(fault.processes);
  }
}

}  // namespace

std::string RecordedFault::key() const {
  const std::string name = std::filesystem::path(file).filename().string();
  return fmt::format("{} {} {} {}", rule, kernel, is_line_of_call ? "" : name, site);
}

RecordedRun read_report(const std::string& path) {
  RecordedRun run;
  CallLines lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const json line = parsed_json(text);
    try {
      if (line.contains("fault")) {
        RecordedFault fault = fault_of(line);
        name_lines(fault, lines);
        add(run.faults, std::move(fault));
      } else if (line.contains("checked")) {
        add(run.checks, line.at("checked"));
      }
    } catch (const json::exception&) {
      continue;  // of a process that died while it wrote
    }
  }
  return run;
}

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

void suppress(RecordedRun& run, const std::vector<std::string>& patterns,
              const std::set<std::string>& baseline) {
  const auto is_known = [&](const RecordedFault& fault) {
    const std::string place =
        fmt::format("{}:{}", std::filesystem::path(fault.file).filename().string(), fault.line);
    return baseline.contains(fault.key()) ||
           std::ranges::any_of(patterns, [&](const std::string& pattern) {
             return matches(pattern, fault.kind) || matches(pattern, fault.rule) ||
                    matches(pattern, fault.kernel) || matches(pattern, place) ||
                    matches(pattern, fault.message);
           });
  };
  run.suppressed += std::erase_if(run.faults, is_known);
}

bool read_lines(const std::string& path, std::vector<std::string>& lines) {
  std::ifstream file(path);
  if (!file) return false;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
      line.pop_back();
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return true;
}

}  // namespace sluice::tools
