#include "engine/reservations/published_reservation.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "core/wall_time.h"

namespace synergy {
namespace {

constexpr size_t kMostNamed = 4;

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  const size_t named = names.size() > kMostNamed ? kMostNamed - 1 : names.size();
  for (size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return named == names.size() ? text : fmt::format("{} and {} more", text, names.size() - named);
}

}  // namespace

PublishedReservation Publish(const GpuReservation& reservation, Moment at) {
  const auto wall = [&](Instant time) { return at.wall + (time - at.now); };
  PublishedReservation published{.job = reservation.job,
                                 .priority = reservation.priority,
                                 .places = reservation.places,
                                 .earliest = wall(reservation.starts.earliest),
                                 .likely = wall(reservation.starts.likely),
                                 .latest = wall(reservation.starts.latest),
                                 .waits_for = reservation.waits_for,
                                 .until = at.wall + PublishedReservation::kLifetime};
  if (published.waits_for.size() > PublishedReservation::kMostAwaited)
    published.waits_for.resize(PublishedReservation::kMostAwaited);
  return published;
}

GpuReservation ToReservation(const PublishedReservation& published, Moment at) {
  const auto instant = [&](WallTime time) { return at.now + (time - at.wall); };
  GpuReservation reservation;
  reservation.job = published.job;
  reservation.priority = published.priority;
  reservation.places = published.places;
  reservation.starts = {instant(published.earliest), instant(published.likely),
                        instant(published.latest)};
  reservation.waits_for = published.waits_for;
  return reservation;
}

std::string ToClockText(WallTime time, WallTime now) {
  const std::string text = ToTimeText(time);  // 2026-11-21T07:05:03.250000Z
  const std::string day = text.substr(0, 10);
  const std::string clock = text.substr(11, 5) + " UTC";
  return ToTimeText(now).starts_with(day) ? clock : day + " " + clock;
}

std::string DescribeNodes(const std::vector<GpuReservation::Place>& places) {
  std::vector<std::string> names;
  for (const GpuReservation::Place& place : places) names.push_back(place.node);
  return Join(names);
}

std::string DescribeStart(const PublishedReservation& reservation, WallTime now) {
  std::string text =
      fmt::format("starts about {} ({} to {}) on {}", ToClockText(reservation.likely, now),
                  ToClockText(reservation.earliest, now), ToClockText(reservation.latest, now),
                  DescribeNodes(reservation.places));
  const std::vector<std::string>& jobs = reservation.waits_for;
  if (!jobs.empty())
    text += fmt::format(", when {} {} done", Join(jobs), jobs.size() == 1 ? "is" : "are");
  return text;
}

}  // namespace synergy
