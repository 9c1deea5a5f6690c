package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// event is one line of a watch.
type event struct {
	version int64
	line    []byte
}

// collection has the objects of one kind, and everything that has happened to them since the start,
// or since the last forget.
type collection struct {
	kind       string
	apiVersion string

	mutex   sync.Mutex
	keys    []string
	objects map[string]json.RawMessage
	events  []event
	changed chan struct{}
	// forgotten is the version before which no watch can start any more.
	forgotten int64
	opened    chan struct{}
}

func newCollection(kind, apiVersion string) *collection {
	return &collection{kind: kind, apiVersion: apiVersion, objects: map[string]json.RawMessage{}, changed: make(chan struct{}), opened: make(chan struct{})}
}

// load adds an object that exists before any watch starts.
func (c *collection) load(key string, object any) {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	c.keys = append(c.keys, key)
	c.objects[key] = encoded
}

// put stores an object under a new version and notifies the watches.
func (c *collection) put(key, change string, version int64, object json.RawMessage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, known := c.objects[key]; !known {
		c.keys = append(c.keys, key)
	}
	c.objects[key] = object
	c.emit(version, fmt.Appendf(nil, `{"type":%q,"object":%s}`, change, withKind(object, c.kind, c.apiVersion)))
}

// remove removes an object; `object` is its last state.
func (c *collection) remove(key string, version int64, object json.RawMessage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	// The objects that are removed were added last.
	for at, other := range slices.Backward(c.keys) {
		if other == key {
			c.keys = slices.Delete(c.keys, at, at+1)
			break
		}
	}
	delete(c.objects, key)
	c.emit(version, fmt.Appendf(nil, `{"type":"DELETED","object":%s}`, withKind(object, c.kind, c.apiVersion)))
}

// forget drops all events before a version and ends the watches, which cannot continue. The channel
// is closed when a watch has been opened again.
func (c *collection) forget(version int64) (reopened <-chan struct{}) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.events, c.forgotten = nil, version
	close(c.changed)
	c.changed = make(chan struct{})
	return c.opened
}

// open returns whether a watch from this version has missed nothing.
func (c *collection) open(version int64) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if version < c.forgotten {
		return false
	}
	close(c.opened)
	c.opened = make(chan struct{})
	return true
}

func (c *collection) emit(version int64, line []byte) {
	c.events = append(c.events, event{version, append(line, '\n')})
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *collection) get(key string) (json.RawMessage, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	object, found := c.objects[key]
	return object, found
}

// page returns up to limit objects from an index on; limit 0 returns all of them.
func (c *collection) page(start, limit int) (objects []json.RawMessage, remaining int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	end := len(c.keys)
	if limit > 0 {
		end = min(end, start+limit)
	}
	for _, key := range c.keys[min(start, end):end] {
		objects = append(objects, c.objects[key])
	}
	return objects, len(c.keys) - end
}

// since returns the events after a version, and a channel that is closed when there are more; nil
// instead of a channel if some of the events are forgotten.
func (c *collection) since(version int64, from int) (events []event, next int, changed <-chan struct{}) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if version < c.forgotten {
		return nil, 0, nil
	}
	for _, e := range c.events[from:] {
		if e.version > version {
			events = append(events, e)
		}
	}
	return events, len(c.events), c.changed
}

// withKind adds the kind and version that an object has on its own and in a watch, but not in a
// list.
func withKind(object json.RawMessage, kind, apiVersion string) json.RawMessage {
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,%s`, kind, apiVersion, object[1:])
}
