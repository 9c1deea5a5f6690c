// Package call calls a scheduler extender as kube-scheduler does, measures each call and checks the
// answers.
package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Client is a connection to an extender, which makes one call after the other.
type Client struct {
	url  string
	http *http.Client
	body bytes.Buffer
}

// Timing is how long a call took: from sending the request until the whole answer was read, and
// until it was decoded.
type Timing struct {
	Roundtrip  time.Duration
	WithDecode time.Duration
}

// timeout is far above kube-scheduler's usual five seconds, so that the largest requests are
// measured instead of failing.
const timeout = 2 * time.Minute

// NewClient makes a client with the transport of kube-scheduler's extender client (pkg/scheduler/extender.go, makeTransport).
func NewClient(url string) *Client {
	return &Client{
		url:  strings.TrimRight(url, "/"),
		http: &http.Client{Transport: utilnet.SetTransportDefaults(&http.Transport{}), Timeout: timeout},
	}
}

// Close ends the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// post sends a request and decodes the answer into result.
func (c *Client) post(verb string, request []byte, result any) (Timing, error) {
	started := time.Now()
	message, err := http.NewRequest(http.MethodPost, c.url+"/"+verb, bytes.NewReader(request))
	if err != nil {
		return Timing{}, err
	}
	message.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(message)
	if err != nil {
		return Timing{}, err
	}
	defer response.Body.Close()
	c.body.Reset()
	if _, err := io.Copy(&c.body, response.Body); err != nil {
		return Timing{}, err
	}
	roundtrip := time.Since(started)
	if response.StatusCode != http.StatusOK {
		return Timing{}, fmt.Errorf("%s answered %s: %.200s", verb, response.Status, c.body.Bytes())
	}
	if err := json.NewDecoder(bytes.NewReader(c.body.Bytes())).Decode(result); err != nil {
		return Timing{}, fmt.Errorf("%s: %w in %.200s", verb, err, c.body.Bytes())
	}
	return Timing{Roundtrip: roundtrip, WithDecode: time.Since(started)}, nil
}
