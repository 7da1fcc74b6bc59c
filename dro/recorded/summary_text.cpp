// The printed forms of a summary.
#include <algorithm>
#include <functional>
#include <numeric>
#include <ostream>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/terminal/fitted_name.hpp"
#include "dro/recorded/summary.hpp"

namespace sluice::dro {
namespace {

// extent_text() is "8x8", or "8x8x2" where there is a third dimension.
std::string extent_text(const Dim3& extent) {
  std::string text = fmt::format("{}x{}", extent.x, extent.y);
  if (extent.z != 1) text += fmt::format("x{}", extent.z);
  return text;
}

JsonText extent_json(const Dim3& extent) {
  return JsonText::array({extent.x, extent.y, extent.z});
}

// Column of a table of text: the widest cell decides its width.
using Row = std::vector<std::string>;

std::vector<size_t> widths_of(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

void print_table(std::ostream& out, const std::vector<Row>& rows) {
  const std::vector<size_t> widths = widths_of(rows);
  for (const Row& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i)
      line += fmt::format(" {:<{}} ", row[i], widths[i]);
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

// print_with_names() prints a table whose rows have `names` kernel names each, in what the rest
// leaves of `width` columns. `rows` makes it for a function that gives a kernel's name.
using Namer = std::function<std::string(const std::string&)>;

void print_with_names(std::ostream& out, size_t width, size_t names,
                      const std::function<std::vector<Row>(const Namer&)>& rows) {
  const std::vector<size_t> rest = widths_of(rows([](const std::string&) { return ""; }));
  const size_t taken = std::accumulate(rest.begin(), rest.end(), 2 * rest.size());
  const size_t room = width == any_width ? any_width : (width - std::min(width, taken)) / names;
  print_table(out, rows([room](const std::string& name) { return fitted_name(name, room); }));
}

std::string how(const LaunchRecord& launch) {
  const std::string& reason = launch.details.passed_through;
  return reason.empty() ? "tasks" : "passed through: " + reason;
}

// KernelCount adds up the launches of one kernel in one shape.
struct KernelCount {
  Dim3 grid, block;
  std::string kernel;
  uint64_t launches = 0, tasks = 0;
};

void print_launch_table(const JournalSummary& summary, size_t width, std::ostream& out) {
  std::vector<KernelCount> kernels;
  for (const LaunchSummary& launch : summary.launches) {
    const LaunchDetails& details = launch.record.details;
    auto place = std::find_if(kernels.begin(), kernels.end(), [&](const KernelCount& count) {
      return count.kernel == details.kernel && count.grid == details.grid &&
             count.block == details.block;
    });
    if (place == kernels.end()) {
      place = kernels.insert(kernels.end(), {details.grid, details.block, details.kernel});
    }
    ++place->launches;
    place->tasks += details.passed_through.empty() ? 1 : 0;
  }
  out << "\nlaunches\n";
  print_with_names(out, width, 1, [&](const Namer& name) {
    std::vector<Row> rows = {{"kernel", "grid", "block", "launches", "as tasks"}};
    for (const KernelCount& count : kernels) {
      rows.push_back({name(count.kernel), extent_text(count.grid), extent_text(count.block),
                      std::to_string(count.launches), std::to_string(count.tasks)});
    }
    return rows;
  });
}

// share_text() is "50.0 % of 128": how much of what was claimed was touched.
std::string share_text(uint64_t touched, uint64_t claimed) {
  if (claimed == 0) return "-";
  return fmt::format("{:.1f} % of {}",
                     100.0 * static_cast<double>(touched) / static_cast<double>(claimed), claimed);
}

std::string blocks_text(const CheckRecord& check) {
  const uint64_t launched = check.launched_blocks.value_or(0);
  if (check.blocks >= launched) return std::to_string(check.blocks);
  return fmt::format("{} of {}", check.blocks, launched);
}

std::vector<Row> check_rows(const JournalSummary& summary, const Namer& name) {
  std::vector<Row> rows = {{"kernel", "launches", "unchecked", "blocks", "violations", "argument",
                            "bytes read", "bytes written"}};
  for (const CheckRecord& check : summary.checks) {
    Row row = {name(check.kernel), std::to_string(check.launches), std::to_string(check.unchecked),
               blocks_text(check), std::to_string(check.violations)};
    if (check.arguments.empty()) {
      row.insert(row.end(), 3, "-");
      rows.push_back(row);
    }
    for (const CheckRecord::Argument& argument : check.arguments) {
      row.push_back(argument.name);
      row.push_back(share_text(argument.read_bytes_touched, argument.read_bytes_claimed));
      row.push_back(share_text(argument.written_bytes_touched, argument.written_bytes_claimed));
      rows.push_back(row);
      row.assign(5, "");
    }
  }
  return rows;
}

JsonText checks_json(const JournalSummary& summary) {
  JsonText checks = JsonText::array({});
  for (const CheckRecord& check : summary.checks)
    checks.add(JsonText::of_text(text_of(check)));
  return checks;
}

Row dro_row(const DroSummary& summary, const Namer& name) {
  const Dro& dro = summary.dro;
  return {std::to_string(dro.id),
          fmt::format("{} #{} -> {} #{}", name(summary.master_kernel), summary.master,
                      name(summary.slave_kernel), summary.slave),
          fmt::format("{}", fmt::join(dro.buffers, ",")),
          hazard_names(dro.hazards),
          std::to_string(summary.edges),
          fmt::format("{} (table {})", summary.form, dro.edges),
          std::to_string(summary.uses)};
}

const Row dro_titles = {"dro", "master -> slave", "buffers", "hazards", "edges", "form", "used"};

}  // namespace

void write_summary(const JournalSummary& summary, std::ostream& out, size_t width) {
  const auto count = [](uint64_t number, const char* one, const char* many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
  };
  out << fmt::format("{}, dependence rule: {}\n", summary.program,
                     names<Rule>.at(size_t(summary.rule)));
  out << fmt::format(
      "{}: {} as tasks, {} passed through\n", count(summary.launches.size(), "launch", "launches"),
      summary.launches.size() - summary.passed_through_count(), summary.passed_through_count());
  out << fmt::format("{} computed, {} reused\n",
                     count(summary.footprints, "footprint", "footprints"),
                     summary.footprint_hits());
  out << fmt::format("{} resolved by {}, {} reused; {} of blocks in {}\n",
                     count(summary.resolved, "dependence", "dependences"),
                     count(summary.dros.size(), "DRO", "DROs"), summary.dro_hits(),
                     count(summary.edges, "edge", "edges"),
                     count(summary.edge_tables, "edge table", "edge tables"));
  if (!summary.launches.empty()) print_launch_table(summary, width, out);
  if (!summary.dros.empty()) {
    out << "\nDROs\n";
    print_with_names(out, width, 2, [&](const Namer& name) {
      std::vector<Row> rows = {dro_titles};
      for (const DroSummary& dro : summary.dros)
        rows.push_back(dro_row(dro, name));
      return rows;
    });
  }
  if (!summary.checks.empty()) {
    out << "\nfootprint check: bytes touched of bytes claimed, summed over blocks\n";
    print_with_names(out, width, 1, [&](const Namer& name) { return check_rows(summary, name); });
  }
  if (!summary.passed_through.empty()) {
    std::vector<Row> rows;
    for (const auto& [reason, launches] : summary.passed_through) {
      rows.push_back({std::to_string(launches), reason});
    }
    out << "\npassed through, because\n";
    print_table(out, rows);
  }
  for (const std::string& warning : summary.warnings)
    out << "\nwarning: " << warning << '\n';
  if (!summary.end.note.empty()) out << "\nnote: " << summary.end.note << '\n';
}

void write_summary_json(const JournalSummary& summary, std::ostream& out) {
  JsonText reasons = JsonText::object({});
  for (const auto& [reason, launches] : summary.passed_through)
    reasons.add(reason, launches);
  JsonText object = JsonText::object(
      {{"program", summary.program},
       {"rule", names<Rule>.at(size_t(summary.rule))},
       {"launches", summary.launches.size()},
       {"passed_through", JsonText::object({{"count", summary.passed_through_count()},
                                            {"reasons", std::move(reasons)}})},
       {"footprints", summary.footprints},
       {"footprint_hits", summary.footprint_hits()},
       {"interned", summary.interned},
       {"dros", summary.dros.size()},
       {"dro_hits", summary.dro_hits()},
       {"resolved", summary.resolved},
       {"edge_tables", summary.edge_tables},
       {"edges", summary.edges},
       {"warnings", summary.warnings}});
  if (!summary.checks.empty()) object.add("checks", checks_json(summary));
  if (!summary.end.note.empty()) object.add("note", summary.end.note);
  out << object.text() << '\n';
}

void write_launches(const JournalSummary& summary, bool as_json, std::ostream& out, size_t width) {
  for (const LaunchSummary& launch : summary.launches) {
    const LaunchRecord& record = launch.record;
    const LaunchDetails& details = record.details;
    if (!as_json) {
      std::string line = fmt::format("#{} {} grid {} block {} stream {} ", record.number,
                                     name_in_line(details.kernel, width), extent_text(details.grid),
                                     extent_text(details.block), details.stream.number);
      if (details.stream.device != 0) line += fmt::format("of device {} ", details.stream.device);
      if (record.footprint) line += fmt::format("footprint {} ", *record.footprint);
      line += how(record);
      for (const auto& [master, dro] : record.dependences) {
        line += fmt::format(", after #{} (dro {})", master, dro);
      }
      out << line << '\n';
      continue;
    }
    JsonText object =
        JsonText::object({{"number", record.number},
                          {"kernel", details.kernel},
                          {"grid", extent_json(details.grid)},
                          {"block", extent_json(details.block)},
                          {"stream", details.stream.number},
                          {"device", details.stream.device},
                          {"footprint", record.footprint ? JsonText(*record.footprint) : nullptr},
                          {"how", details.how()}});
    if (!details.passed_through.empty()) object.add("reason", details.passed_through);
    object.add("dependences", record.dependences);
    object.add("edges", launch.edges);
    out << object.text() << '\n';
  }
}

void write_dros(const JournalSummary& summary, bool as_json, std::ostream& out, size_t width) {
  for (const DroSummary& entry : summary.dros) {
    const Dro& dro = entry.dro;
    if (!as_json) {
      out << fmt::format(
          "dro {}: {} #{} -> {} #{}, buffers {}, {}, {} edges, {} (table {}){}, used {}\n", dro.id,
          name_in_line(entry.master_kernel, width), entry.master,
          name_in_line(entry.slave_kernel, width), entry.slave, fmt::join(dro.buffers, ","),
          hazard_names(dro.hazards), entry.edges, entry.form, dro.edges,
          dro.retires_master ? ", retires its master" : "", entry.uses);
      continue;
    }
    JsonText hazards = JsonText::array({});
    if (dro.hazards.raw) hazards.add("raw");
    if (dro.hazards.war) hazards.add("war");
    if (dro.hazards.waw) hazards.add("waw");
    const JsonText object =
        JsonText::object({{"id", dro.id},
                          {"master", JsonText::object({{"launch", entry.master},
                                                       {"kernel", entry.master_kernel},
                                                       {"interned", dro.master}})},
                          {"slave", JsonText::object({{"launch", entry.slave},
                                                      {"kernel", entry.slave_kernel},
                                                      {"interned", dro.slave}})},
                          {"master_state", dro.master_state},
                          {"buffers", dro.buffers},
                          {"hazards", std::move(hazards)},
                          {"edges", entry.edges},
                          {"form", entry.form},
                          {"edge_table", dro.edges},
                          {"retires_master", dro.retires_master},
                          {"used", entry.uses}});
    out << object.text() << '\n';
  }
}

}  // namespace sluice::dro
