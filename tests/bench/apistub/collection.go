package main

import (
	"encoding/json"
	"fmt"
	"sync"
)

// event is one line of a watch.
type event struct {
	version int64
	line    []byte
}

// collection is one kind of object: what exists, and everything that has happened since the start.
type collection struct {
	kind       string
	apiVersion string

	mutex   sync.Mutex
	keys    []string
	objects map[string]json.RawMessage
	events  []event
	changed chan struct{}
}

func newCollection(kind, apiVersion string) *collection {
	return &collection{kind: kind, apiVersion: apiVersion, objects: map[string]json.RawMessage{}, changed: make(chan struct{})}
}

// load adds an object that is older than any watch.
func (c *collection) load(key string, object any) {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	c.keys = append(c.keys, key)
	c.objects[key] = encoded
}

// put stores an object under a new version and tells the watches.
func (c *collection) put(key, change string, version int64, object json.RawMessage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, known := c.objects[key]; !known {
		c.keys = append(c.keys, key)
	}
	c.objects[key] = object
	c.emit(version, fmt.Appendf(nil, `{"type":%q,"object":%s}`, change, withKind(object, c.kind, c.apiVersion)))
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

// page returns up to limit objects from an index on; limit 0 is all of them.
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

// since returns the events after a version, and a channel that is closed when there are more.
func (c *collection) since(version int64, from int) (events []event, next int, changed <-chan struct{}) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, e := range c.events[from:] {
		if e.version > version {
			events = append(events, e)
		}
	}
	return events, len(c.events), c.changed
}

// withKind adds what an object has on its own and in a watch, but not as an item of a list.
func withKind(object json.RawMessage, kind, apiVersion string) json.RawMessage {
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,%s`, kind, apiVersion, object[1:])
}
