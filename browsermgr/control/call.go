package control

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"clank/browsermgr/control/body"
)

// maxBody bounds what a request carries, in bytes.
const maxBody = 1 << 20

// ioLimit bounds how long a client takes to send its request or to take its answer.
const ioLimit = 30 * time.Second

// call is one request to a route.
type call struct {
	server *Server
	route  *route
	w      http.ResponseWriter
	r      *http.Request
	query  *body.Fields
	body   *body.Fields // without fields for methods that carry none
}

// profile is whose browser is meant: the query's word counts before the body's; "" is the default one.
func (c *call) profile() string {
	if name := c.query.String("profile"); name != "" {
		return name
	}
	return c.body.String("profile")
}

// err is the first thing that was wrong with what was read of the request.
func (c *call) err() error { return errors.Join(c.query.Err(), c.body.Err()) }

type bodyKey struct{}

// readBody reads the JSON body of a request before anybody judges it. What is not declared to be JSON is left aside.
func (s *Server) readBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields, err := decodeBody(w, r)
		if err != nil {
			answerError(w, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, fields)))
	})
}

func decodeBody(w http.ResponseWriter, r *http.Request) (*body.Fields, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(ioLimit))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &failure{status: http.StatusRequestEntityTooLarge, err: errors.New("the body is larger than 1 MB")}
	}
	if err != nil {
		return nil, &failure{status: http.StatusBadRequest, err: errors.New("the body did not arrive whole")}
	}
	// From here on the connection is only watched for its end.
	_ = control.SetReadDeadline(time.Time{})
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return body.New(nil), nil
	}
	return body.Decode(data)
}

// bodyOf is what readBody has read.
func bodyOf(r *http.Request) *body.Fields {
	if fields, ok := r.Context().Value(bodyKey{}).(*body.Fields); ok {
		return fields
	}
	return body.New(nil)
}

func newCall(s *Server, r *route, w http.ResponseWriter, req *http.Request) *call {
	return &call{server: s, route: r, w: w, r: req, query: body.Query(req.URL.Query()), body: bodyOf(req)}
}
