package main

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const bookmarkInterval = 10 * time.Second

func (s *server) listOrWatch(w http.ResponseWriter, r *http.Request, objects *collection) {
	query := r.URL.Query()
	if watch := query.Get("watch"); watch == "1" || watch == "true" {
		s.watch(w, r, objects)
		return
	}
	limit, _ := strconv.Atoi(query.Get("limit"))
	start, version := 0, s.current()
	if token := query.Get("continue"); token != "" {
		if _, err := fmt.Sscanf(token, "%d-%d", &version, &start); err != nil {
			refuse(w, http.StatusBadRequest, "BadRequest", "the continue token is not one of this server's")
			return
		}
	}
	time.Sleep(s.pagePause)
	items, remaining := objects.page(start, limit)
	metadata := fmt.Sprintf(`{"resourceVersion":"%d"`, version)
	if remaining > 0 {
		metadata += fmt.Sprintf(`,"continue":"%d-%d","remainingItemCount":%d`, version, start+len(items), remaining)
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, 1<<16)
	defer out.Flush()
	fmt.Fprintf(out, `{"kind":"%sList","apiVersion":%q,"metadata":%s},"items":[`, objects.kind, objects.apiVersion, metadata)
	for i, item := range items {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.Write(item)
	}
	_, _ = out.WriteString("]}\n")
}

// watch streams events after the given version until the client disconnects or the request's
// timeout has passed.
func (s *server) watch(w http.ResponseWriter, r *http.Request, objects *collection) {
	query := r.URL.Query()
	if query.Get("sendInitialEvents") != "" {
		refuse(w, http.StatusUnprocessableEntity, "Invalid", "sendInitialEvents is forbidden here: list first")
		return
	}
	version, err := strconv.ParseInt(strings.TrimSpace(query.Get("resourceVersion")), 10, 64)
	if err != nil {
		version = s.current()
	}
	if !objects.open(version) {
		refuse(w, http.StatusGone, "Expired", "too old resource version")
		return
	}
	var timeout <-chan time.Time
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		timeout = time.After(time.Duration(seconds) * time.Second)
	}
	var bookmarks <-chan time.Time
	if query.Get("allowWatchBookmarks") == "true" {
		ticker := time.NewTicker(bookmarkInterval)
		defer ticker.Stop()
		bookmarks = ticker.C
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flusher := w.(http.Flusher)
	flusher.Flush()
	for next := 0; ; {
		events, end, changed := objects.since(version, next)
		if changed == nil {
			return
		}
		next = end
		for _, e := range events {
			if _, err := w.Write(e.line); err != nil {
				return
			}
			version = e.version
		}
		if len(events) > 0 {
			flusher.Flush()
		}
		select {
		case <-changed:
		case <-bookmarks:
			fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"}}}`+"\n",
				objects.kind, objects.apiVersion, s.latest(objects, version))
			flusher.Flush()
		case <-timeout:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// latest is the version up to which a watch that has seen everything so far is complete.
func (s *server) latest(objects *collection, seen int64) int64 {
	now := s.current()
	if events, _, _ := objects.since(seen, 0); len(events) > 0 {
		return seen
	}
	return max(now, seen)
}
