#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.hpp"
#include "dro/journal.hpp"
#include "dro/journal_format.hpp"

namespace sluice::dro {
namespace {

// The tracker's thread waits once so many records are waiting to be written.
constexpr size_t most_waiting = size_t{1} << 18;
constexpr size_t batch_bytes = size_t{1} << 20;

struct FootprintRecord {
  FootprintId id;
  analysis::Footprint footprint;
};
struct EdgeTableRecord {
  EdgeTableId id;
  EdgeTable table;
};
// Record is what the tracker's thread hands over: text where that is cheap to make, else values.
using Record =
    std::variant<std::string, LaunchRecord, FootprintRecord, EdgeTableRecord, TaskRecord>;

std::string text_of(Record& record) {
  if (auto* text = std::get_if<std::string>(&record)) return std::move(*text);
  if (auto* launch = std::get_if<LaunchRecord>(&record)) return launch_text(*launch);
  if (auto* tasks = std::get_if<TaskRecord>(&record)) return task_text(*tasks);
  if (auto* source = std::get_if<FootprintRecord>(&record)) {
    return footprint_text(source->id, source->footprint);
  }
  const auto& source = std::get<EdgeTableRecord>(record);
  return edge_table_text(source.id, source.table);
}

}  // namespace

struct JournalWriter::State {
  State(std::string file_path, int descriptor) : path(std::move(file_path)), file(descriptor) {}

  void append(Record record);
  void run();
  void write_all(const std::string& bytes);

  const std::string path;
  const int file;
  bool failed = false;         // writer thread only
  LaunchDetails next_details;  // tracker's thread only

  std::mutex mutex;
  std::condition_variable work;  // there are records, or the end has come
  std::condition_variable done;  // a batch has been written
  std::vector<Record> waiting;
  bool writing = false;
  bool ending = false;
  std::thread thread;
};

void JournalWriter::State::append(Record record) {
  std::unique_lock lock(mutex);
  done.wait(lock, [this] { return waiting.size() < most_waiting; });
  waiting.push_back(std::move(record));
  if (waiting.size() == 1) work.notify_one();
}

void JournalWriter::State::run() {
  std::vector<Record> batch;
  std::string bytes;
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [this] { return !waiting.empty() || ending; });
    if (waiting.empty()) return;
    std::swap(batch, waiting);
    writing = true;
    lock.unlock();
    for (Record& record : batch) {
      bytes += sealed(text_of(record)) + '\n';
      if (bytes.size() >= batch_bytes) {
        write_all(bytes);
        bytes.clear();
      }
    }
    write_all(bytes);
    bytes.clear();
    batch.clear();
    lock.lock();
    writing = false;
    done.notify_all();
  }
}

void JournalWriter::State::write_all(const std::string& bytes) {
  size_t written = 0;
  while (written < bytes.size() && !failed) {
    const ssize_t result = ::write(file, bytes.data() + written, bytes.size() - written);
    if (result >= 0) {
      written += static_cast<size_t>(result);
    } else if (errno != EINTR) {
      failed = true;
      log::error("journal {}: cannot write: {}; the journal ends here", path, std::strerror(errno));
    }
  }
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::open(const std::string& path, Rule rule,
                                                           const std::string& program) {
  const int saved_errno = errno;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    std::string reason = std::strerror(errno);
    errno = saved_errno;
    return system_error("cannot write the journal: " + reason, path,
                        "give a path that can be written");
  }
  auto state = std::make_unique<State>(path, file);
  State* shared = state.get();
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state->thread = std::thread([shared] { shared->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state->append(header_text({rule, program}));
  errno = saved_errno;
  return std::unique_ptr<JournalWriter>(new JournalWriter(std::move(state)));
}

JournalWriter::JournalWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

JournalWriter::~JournalWriter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    state_->work.notify_one();
  }
  state_->thread.join();
  ::close(state_->file);
}

void JournalWriter::describe_launch(const LaunchDetails& details) {
  state_->next_details = details;
}

void JournalWriter::note_check(const CheckRecord& check) {
  state_->append(check_text(check));
}

void JournalWriter::note_tasks(TaskRecord tasks) {
  state_->append(std::move(tasks));
}

void JournalWriter::flush() {
  std::unique_lock lock(state_->mutex);
  state_->done.wait(lock, [this] { return state_->waiting.empty() && !state_->writing; });
}

void JournalWriter::on_buffer_created(BufferId buffer, uint64_t bytes) {
  state_->append(buffer_text(buffer, bytes));
}

void JournalWriter::on_buffer_destroyed(BufferId buffer) {
  state_->append(free_text(buffer));
}

void JournalWriter::on_footprint(FootprintId id, const analysis::Footprint& footprint) {
  state_->append(FootprintRecord{id, footprint});
}

void JournalWriter::on_edge_table(EdgeTableId id, const EdgeTable& table) {
  state_->append(EdgeTableRecord{id, table});
}

void JournalWriter::on_dro(const Dro& dro) {
  state_->append(dro_text(dro));
}

void JournalWriter::on_launch(const LaunchEntry& entry, InternedId interned,
                              std::span<const Dependence> dependences) {
  LaunchRecord record{
      entry.number, std::exchange(state_->next_details, {}),          entry.footprint,
      interned,     {entry.arguments.begin(), entry.arguments.end()}, {}};
  record.dependences.reserve(dependences.size());
  for (const Dependence& dependence : dependences) {
    record.dependences.emplace_back(dependence.master, dependence.dro->id);
  }
  state_->append(std::move(record));
}

void JournalWriter::on_opaque_launch(LaunchNumber number, const std::string& reason) {
  LaunchRecord record{number, std::exchange(state_->next_details, {}), std::nullopt, 0, {}, {}};
  record.details.passed_through = reason.empty() ? "no reason was given" : reason;
  state_->append(std::move(record));
}

void JournalWriter::on_host_write(BufferId buffer, uint64_t begin, uint64_t end) {
  state_->append(host_write_text(buffer, begin, end));
}

void JournalWriter::on_warning(const std::string& text) {
  log::warning("{}", text);
  state_->append(warning_text(text));
}

}  // namespace sluice::dro
