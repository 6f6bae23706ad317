package discordtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// A Frame is one message on a gateway connection.
type Frame struct {
	At       time.Time
	Bot      string // user id, "" before identify
	Received bool   // true: from the client
	Op       int
	Type     string
	Seq      int64
	Data     json.RawMessage
}

// A Disconnect is the end of one gateway connection.
type Disconnect struct {
	At   time.Time
	Bot  string
	Code int // the close code somebody gave first, or -1 for a cut line
	// ByServer tells whether the server closed it.
	ByServer bool
}

// recordedTraffic is the record of all that came and went.
type recordedTraffic struct {
	Requests    []Request
	Frames      []Frame
	Disconnects []Disconnect
}

// RecordRequest notes a request, and returns its number for RecordStatus.
func (s *hub) RecordRequest(r *http.Request, route Route, body []byte) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Requests = append(s.Requests, Request{
		At: s.Now(), Route: route, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Header: r.Header.Clone(), Body: bytes.Clone(body),
	})
	s.Notify()
	return len(s.Requests)
}

// RecordStatus completes the request with that number, counted from 1.
func (s *hub) RecordStatus(number, status int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if number > 0 {
		s.Requests[number-1].Status = status
		s.Notify()
	}
}
