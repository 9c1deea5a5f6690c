#pragma once

// Manages loans of CPU. A pod whose GPUs and CPU have been idle for long lends its unused CPU to a
// pod on its node that trains faster with it. The lender gets the CPU back as soon as it is busy.
//
//   lender:    kLent (cut, in force) ------------------------------> kReturned (grown)
//   borrower:          kBorrowed (grown) --> kGivenBack (cut, in force)
//
// Cuts come first, so the node is never over-committed. Each step is announced on the pod before it
// is made. So ManagedContainer::Lends() and Borrows() of the pods are the whole state, and a loan
// survives a restart of the controller. CPU that is lent but not borrowed counts as taken
// (ManagedContainer::LoanBalance()), so the extender gives it to no other pod. Another scheduler
// may take it between two steps or after the borrower has left. Then the lender gets CPU from its
// neighbours' surplus, or when CPU becomes free.
//
// A loan ends when its lender is busy or no longer reported idle. It also ends when the borrower is
// gone or cannot take the CPU, or when a waiting pod could have a place on the node without the
// loan (NodesToPlaceOn of reclaim.h). If the lender is gone, the borrower keeps the CPU, as
// surplus.
//
// Members of gangs, and pods that must not be resized, neither lend nor borrow. Pods whose limits
// equal their requests do not lend. Nor do pods in a namespace with a CPU quota, because other pods
// could use up the quota meanwhile. Memory is not lent.
//
// Threading: pure.

#include "engine/tuner/tuner_pass.h"

namespace synergy {

// How long a report of an idle pod stays valid.
inline constexpr Duration kIdleIsFresh = std::chrono::seconds(15);

// Continues the existing loans, and ends those that must end.
void ReturnLoans(TunerPass& pass);
// Makes new loans, every few seconds.
void MakeLoans(TunerPass& pass);

}  // namespace synergy
