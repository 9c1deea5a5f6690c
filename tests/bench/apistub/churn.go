package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"synergy.io/synergy/tests/bench/internal/fixture"
)

// churnTick is how often events are made. Several are made at a time, as an API server's watch
// cache sends them.
const churnTick = 10 * time.Millisecond

// churn changes pods at the server's rate for ever. Of twenty events one adds a pod, one removes
// that pod, and the others update pods all over the cluster. An update is the same object with
// another version: it costs this server little, and a client as much as any other update.
func (s *server) churn() {
	s.pods.mutex.Lock()
	keys := append([]string{}, s.pods.keys...)
	s.pods.mutex.Unlock()
	comer := fixture.ServicePod(999_999, 0)
	comer.ResourceVersion = "1"
	encoded, err := json.Marshal(comer)
	if err != nil {
		panic(err)
	}
	key := comer.Namespace + "/" + comer.Name
	due := 0.0
	for made, last := 0, time.Now(); ; time.Sleep(churnTick) {
		now := time.Now()
		due += now.Sub(last).Seconds() * float64(s.churnRate.Load())
		last = now
		for ; due >= 1; due-- {
			switch made++; made % 20 {
			case 1:
				s.change(func(version int64) { s.pods.put(key, "ADDED", version, withVersion(encoded, version)) })
			case 11:
				s.change(func(version int64) { s.pods.remove(key, version, withVersion(encoded, version)) })
			default:
				// A prime number keeps pods that follow each other on different nodes.
				key := keys[made*7919%len(keys)]
				object, _ := s.pods.get(key)
				s.change(func(version int64) { s.pods.put(key, "MODIFIED", version, withVersion(object, version)) })
			}
		}
	}
}

// change makes one change of a pod.
func (s *server) change(make func(version int64)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.version++
	make(s.version)
}

var versionField = []byte(`"resourceVersion":"`)

func withVersion(object json.RawMessage, version int64) json.RawMessage {
	from := bytes.Index(object, versionField) + len(versionField)
	to := from + bytes.IndexByte(object[from:], '"')
	changed := make([]byte, 0, len(object)+8)
	changed = append(changed, object[:from]...)
	changed = strconv.AppendInt(changed, version, 10)
	return append(changed, object[to:]...)
}

// setChurn sets the number of events per second.
func (s *server) setChurn(w http.ResponseWriter, r *http.Request) {
	rate, err := strconv.ParseInt(r.PathValue("rate"), 10, 64)
	if err != nil || rate < 0 {
		refuse(w, http.StatusBadRequest, "BadRequest", "a rate is a number")
		return
	}
	s.churnRate.Store(rate)
}

// relist makes every watch of pods too old, as after a compaction, and answers when a watch has
// been opened again.
func (s *server) relist(w http.ResponseWriter, r *http.Request) {
	var reopened <-chan struct{}
	s.change(func(version int64) { reopened = s.pods.forget(version) })
	select {
	case <-reopened:
		fmt.Fprintln(w, "listed")
	case <-r.Context().Done():
	}
}
