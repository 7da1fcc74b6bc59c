// The judgement as lines for people, as GitHub's annotations, and as JSON.
#include <ctime>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "tools/check/judgement.hpp"

namespace sluice::tools {
namespace {

using nlohmann::json;

std::string dumped(const json& value) {
  return json_text_of(value, 2) + "\n";
}

// escaped() is text as GitHub's commands take it; `in_property` in what stands before the "::".
std::string escaped(const std::string& text, bool in_property) {
  std::string result;
  for (const char c : text) {
    const bool is_special =
        c == '%' || c == '\r' || c == '\n' || (in_property && (c == ':' || c == ','));
    result +=
        is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return result;
}

std::string joined(const RecordedFault& fault, const char* between) {
  std::string text = fault.message;
  for (const std::string& detail : fault.details)
    text += between + detail;
  return text;
}

json json_of(const RecordedFault& fault) {
  return {{"kind", fault.kind},
          {"rule", fault.rule},
          {"certain", fault.is_certain},
          {"kernel", fault.kernel},
          {"message", fault.message},
          {"details", fault.details},
          {"call", fault.site},
          {"file", fault.file},
          {"line", fault.line},
          {"program", fault.program},
          {"processes", fault.processes.size()},
          {"key", fault.key()}};
}

}  // namespace

std::string text_of(const Judgement& judgement) {
  std::string text;
  for (const RecordedFault& fault : judgement.run.faults) {
    text += fmt::format("sluice: {}\n", fault.message);
    for (const std::string& detail : fault.details)
      text += fmt::format("sluice:   {}\n", detail);
    if (fault.processes.size() > 1)
      text += fmt::format("sluice:   found by {} processes\n", fault.processes.size());
  }
  for (const auto& [reason, count] : judgement.run.checks.unchecked)
    text += fmt::format("sluice: {} {} not checked: {}\n", count,
                        count == 1 ? "launch" : "launches", reason);
  for (const auto& [reason, count] : judgement.run.checks.in_part)
    text += fmt::format("sluice: {} {} checked in part: {}\n", count,
                        count == 1 ? "launch" : "launches", reason);
  text += fmt::format("sluice: {}\n", judgement.checked_text());
  if (const std::string ended = judgement.ended_text(); !ended.empty())
    text += fmt::format("sluice: {}\n", ended);
  if (judgement.is_too_little) text += "sluice: that is less than was asked for\n";
  return text;
}

std::string github_of(const Judgement& judgement) {
  std::string text;
  for (const RecordedFault& fault : judgement.run.faults) {
    const std::string place =
        fault.line == 0 ? std::string()
                        : fmt::format("file={},line={},", escaped(fault.file, true), fault.line);
    text +=
        fmt::format("::{} {}title={}::{}\n", fault.is_certain ? "error" : "warning", place,
                    escaped("sluice: " + fault.rule, true), escaped(joined(fault, "\n"), false));
  }
  text += fmt::format("::{} title=sluice::{}\n", judgement.is_too_little ? "error" : "notice",
                      escaped(judgement.checked_text(), false));
  if (const std::string ended = judgement.ended_text(); !ended.empty())
    text += fmt::format("::error title=sluice::{}\n", escaped(ended, false));
  return text;
}

std::string json_of(const Judgement& judgement) {
  json faults = json::array();
  for (const RecordedFault& fault : judgement.run.faults)
    faults.push_back(json_of(fault));
  const RecordedChecks& checks = judgement.run.checks;
  return dumped({{"program", judgement.program},
                 {"program_status", judgement.program_status},
                 {"status", judgement.status},
                 {"faults", faults},
                 {"suppressed", judgement.run.suppressed},
                 {"checked",
                  {{"processes", checks.processes},
                   {"launches", checks.launches},
                   {"whole", checks.whole},
                   {"percent", checks.percent()},
                   {"copies", checks.copies},
                   {"in_part", checks.in_part},
                   {"unchecked", checks.unchecked},
                   {"enough", !judgement.is_too_little}}}});
}

namespace {

json location_of(const RecordedFault& fault) {
  json location = json::object();
  if (fault.line != 0) {
    location["physicalLocation"] = {{"artifactLocation", {{"uri", fault.file}}},
                                    {"region", {{"startLine", fault.line}}}};
  }
  if (!fault.kernel.empty())
    location["logicalLocations"] = json::array({{{"name", fault.kernel}, {"kind", "function"}}});
  return location;
}

json rules() {
  const auto rule = [](const char* id, const char* text) {
    return json{{"id", id}, {"shortDescription", {{"text", text}}}};
  };
  return json::array(
      {rule("race-between-streams", "Nothing orders two launches or copies that share bytes"),
       rule("race-between-blocks", "Blocks of one launch share bytes and at least one writes them"),
       rule("race-between-threads", "Nothing orders two threads of a block that share bytes"),
       rule("lanes-in-step", "Lanes of a warp rely on being in step without __syncwarp()"),
       rule("race-with-host", "The host uses memory that the device may still use"),
       rule("out-of-bounds", "A launch leaves its buffer"),
       rule("use-after-free", "A launch uses memory that was freed"),
       rule("misaligned", "An access is not aligned to its size"),
       rule("double-free", "Memory is freed twice"),
       rule("wrong-free", "What is freed is not what was allocated"),
       rule("leak", "Memory is never freed"),
       rule("ignored-error", "A call failed and nobody asked for its error"),
       rule("uninitialised-read", "A launch reads what nothing has written")});
}

}  // namespace

std::string sarif_of(const Judgement& judgement) {
  json results = json::array();
  for (const RecordedFault& fault : judgement.run.faults) {
    results.push_back({{"ruleId", fault.rule},
                       {"level", fault.is_certain ? "error" : "warning"},
                       {"message", {{"text", joined(fault, "\n")}}},
                       {"locations", json::array({location_of(fault)})},
                       {"partialFingerprints", {{"sluiceKey/v1", fault.key()}}}});
  }
  const json run = {
      {"tool", {{"driver", {{"name", "sluice"}, {"rules", rules()}}}}},
      {"invocations", json::array({{{"executionSuccessful", judgement.program_status == 0},
                                    {"exitCode", judgement.program_status}}})},
      {"properties", {{"checked", judgement.checked_text()}}},
      {"results", results}};
  return dumped({{"version", "2.1.0"}, {"runs", json::array({run})}});
}

namespace {

std::string xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (code >= 0x20 || c == '\n' || c == '\t') {
      result += c;
    } else {
      result += '?';  // XML has no way to write it
    }
  }
  return result;
}

// moment() is now, in UTC: "2026-11-28T12:00:00".
std::string moment() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-11-28T12:00:00"] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

}  // namespace

// As the schema of Apache Ant's reports wants it, which asks for a host, a moment and durations.
// Nobody measures the latter here.
std::string junit_of(const Judgement& judgement) {
  const std::string name = xml(std::filesystem::path(judgement.program).filename().string());
  const bool has_failed = judgement.program_status != 0;
  const size_t failures = judgement.run.faults.size() + (judgement.is_too_little ? 1 : 0);
  std::string cases;
  const auto add = [&](const std::string& title, const char* what, const std::string& type,
                       const std::string& message, const std::string& text) {
    cases += fmt::format("    <testcase classname=\"sluice.{}\" name=\"{}\" time=\"0\">\n", name,
                         xml(title));
    if (what != nullptr) {
      cases += fmt::format("      <{} type=\"{}\" message=\"{}\">{}</{}>\n", what, xml(type),
                           xml(message), xml(text), what);
    }
    cases += "    </testcase>\n";
  };
  for (const RecordedFault& fault : judgement.run.faults)
    add(fault.key(), "failure", fault.rule, fault.message, joined(fault, "\n"));
  add("the program itself", has_failed ? "error" : nullptr, "exit-status", judgement.ended_text(),
      "");
  add("how much was checked", judgement.is_too_little ? "failure" : nullptr, "too-little-checked",
      judgement.checked_text(), "less than was asked for");
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite id=\"0\" "
      "package=\"sluice\" name=\"sluice check {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "time=\"0\" timestamp=\"{}\" hostname=\"localhost\">\n    <properties/>\n{}    "
      "<system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n",
      name, judgement.run.faults.size() + 2, failures, has_failed ? 1 : 0, moment(), cases);
}

}  // namespace sluice::tools
