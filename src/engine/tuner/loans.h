#pragma once

// Loans of CPU: a pod whose GPUs and CPU have been idle for long lends the CPU that it does not use
// to a pod of its node that trains faster with it, and has it back as soon as it is busy.
//
//   lender:    kLent (cut, in force) ------------------------------> kReturned (grown)
//   borrower:          kBorrowed (grown) --> kGivenBack (cut, in force)
//
// Cuts come first, so the node is never over-allocated. Each step is announced on the pod before it
// is made, so ManagedContainer::Lends() and Borrows() of the pods are the whole state, and a loan
// outlives the controller. What is lent and not borrowed counts as taken
// (ManagedContainer::LoanBalance()): our own extender gives it to no other pod. Another scheduler
// may, in the moment between two steps or after the borrower has gone. Then the lender's CPU comes
// from the surplus of its neighbours, or from what becomes free.
//
// A loan ends when its lender is busy, is not reported to be idle any more, or when a pod waits
// that could have a place on the node then (NodesToPlaceOn of reclaim.h); also when the borrower is
// gone or cannot take it. If the lender is gone, the borrower keeps the CPU, as surplus.
//
// Members of gangs, and pods that may not be resized, neither lend nor borrow. Pods whose limits
// are their requests (`strict`), or whose namespace has a quota of CPU, do not lend: others could
// use up the quota meanwhile. Memory is not lent.
//
// Threading: pure.

#include "engine/tuner/tuner_pass.h"

namespace synergy {

// How long a report that a pod is idle counts.
inline constexpr Duration kIdleIsFresh = std::chrono::seconds(15);

// Continues the existing loans, and ends those that must end.
void ReturnLoans(TunerPass& pass);
// Makes new loans, every few seconds.
void MakeLoans(TunerPass& pass);

}  // namespace synergy
