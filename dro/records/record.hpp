// All records of the journal but its header.
#pragma once

#include <variant>

#include "dro/records/buffer.hpp"
#include "dro/records/check.hpp"
#include "dro/records/copy.hpp"
#include "dro/records/dro.hpp"
#include "dro/records/edges.hpp"
#include "dro/records/footprint.hpp"
#include "dro/records/launch.hpp"
#include "dro/records/tasks.hpp"
#include "dro/records/warning.hpp"

namespace sluice::dro {

// Record is one line of a journal. A kind has, in its own header, its `kind`, its Role in a replay
// and members<>; to be written and read it needs no more than its place here.
using Record =
    std::variant<BufferRecord, FreeRecord, FootprintRecord, EdgesRecord, DroRecord, LaunchRecord,
                 HostWriteRecord, CheckRecord, CopyRecord, TaskRecord, WarningRecord>;

}  // namespace sluice::dro
