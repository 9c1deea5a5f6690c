#include "inventory/xid.h"

#include <algorithm>
#include <iterator>

namespace synergy {
namespace {

struct Entry {
  uint64_t xid;
  XidKind kind;
};

// Based on the immediate actions in NVIDIA's Xid catalog
// (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html): an Xid needs a reset if
// the catalog prescribes a reset of the GPU or a restart of the machine.
//
// Exceptions are 63 and 94: the failed page or row is out of use only after the next reset, and a
// driver with recovery actions reports when to reset. These entries are for drivers without
// recovery actions. 109 may also need a reset; drivers that can detect this request it themselves.
constexpr Entry kXids[] = {
    {13, XidKind::kHarmless},     // graphics engine exception, by an application
    {31, XidKind::kHarmless},     // memory page fault, by an application
    {43, XidKind::kHarmless},     // an application's channel was reset
    {45, XidKind::kHarmless},     // an application was removed, for an earlier error
    {46, XidKind::kNeedsReset},   // the GPU stopped processing
    {48, XidKind::kNeedsReset},   // double bit ECC error
    {62, XidKind::kNeedsReset},   // halt of the internal micro-controller
    {63, XidKind::kNeedsReset},   // memory page or row must be retired
    {64, XidKind::kNeedsReset},   // ... and that failed
    {68, XidKind::kHarmless},     // video decoder exception
    {74, XidKind::kNeedsReset},   // NVLink error
    {79, XidKind::kNeedsReset},   // fallen off the bus
    {94, XidKind::kNeedsReset},   // memory error, contained to one application
    {95, XidKind::kNeedsReset},   // memory error, not contained
    {109, XidKind::kHarmless},    // context switch timeout
    {110, XidKind::kNeedsReset},  // security fault
    {119, XidKind::kNeedsReset},  // the GPU's system processor does not answer
    {120, XidKind::kNeedsReset},  // error of the GPU's system processor
    {136, XidKind::kNeedsReset},  // NVLink training failed
    {140, XidKind::kNeedsReset},  // ECC error that could not be corrected
    {143, XidKind::kNeedsReset},  // the GPU did not start
    {154, XidKind::kHarmless},    // the recommended recovery action changed; it is read anyway
    {155, XidKind::kNeedsReset},  // NVLink error found by software
    {156, XidKind::kNeedsReset},  // a resource must be taken out of use
    {158, XidKind::kNeedsReset},  // fatal timeout
};

}  // namespace

XidKind KindOf(uint64_t xid) {
  const auto* const found = std::find_if(std::begin(kXids), std::end(kXids),
                                         [&](const Entry& entry) { return entry.xid == xid; });
  return found == std::end(kXids) ? XidKind::kPassing : found->kind;
}

const std::set<uint64_t>& HarmlessXids() {
  static const std::set<uint64_t> kHarmless = [] {
    std::set<uint64_t> xids;
    for (const Entry& entry : kXids)
      if (entry.kind == XidKind::kHarmless) xids.insert(entry.xid);
    return xids;
  }();
  return kHarmless;
}

}  // namespace synergy
