package cdp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-rod/rod/lib/proto"
)

// Branch is another client on the connection, with its own session with the browser and the sessions derived from it.
// It behaves like a separate connection.
type Branch struct {
	conn    *Conn
	browser string // its session with the browser
	root    string // the session for messages without a session id
	deliver func(message []byte)
}

// wireMessage is a request, result or event passed on by a branch.
type wireMessage struct {
	ID        json.RawMessage `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
}

// branchCall is a pending request of a branch, with the id that the client used.
type branchCall struct {
	branch *Branch
	id     json.RawMessage
}

// Branch opens a branch. Messages without a session id are for the browser or, if target is not empty, for that target.
// deliver is called with each message for the client, on the reading goroutine, and must not block.
func (c *Conn) Branch(ctx context.Context, target string, deliver func(message []byte)) (*Branch, error) {
	at, err := Ask[proto.TargetAttachToBrowserTargetResult](ctx, c.Session("", ErrGone),
		proto.TargetAttachToBrowserTarget{})
	if err != nil {
		return nil, fmt.Errorf("open another session to the browser: %w", err)
	}
	b := &Branch{conn: c, browser: string(at.SessionID), root: string(at.SessionID), deliver: deliver}
	if target == "" {
		c.adoptBranch(b)
		return b, nil
	}
	// The client does not see the messages that open the page's session.
	opener := &Branch{conn: c, browser: b.browser, root: b.browser, deliver: func([]byte) {}}
	c.adoptBranch(opener)
	req := proto.TargetAttachToTarget{TargetID: proto.TargetTargetID(target), Flatten: true}
	page, err := Ask[proto.TargetAttachToTargetResult](ctx, c.Session(b.browser, ErrGone), req)
	if err != nil {
		opener.Close()
		return nil, fmt.Errorf("open another session to a page: %w", err)
	}
	b.root = string(page.SessionID)
	c.adoptBranch(b)
	return b, nil
}

// adoptBranch starts passing messages of a branch's sessions to the branch.
func (c *Conn) adoptBranch(b *Branch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.branches[b.browser], c.branches[b.root] = b, b
}

// Send sends a message of the client.
func (b *Branch) Send(message []byte) error {
	var m wireMessage
	if err := json.Unmarshal(message, &m); err != nil {
		return fmt.Errorf("read protocol message: %w", err)
	}
	if m.SessionID == "" {
		m.SessionID = b.root
	}
	c := b.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.branches[m.SessionID] != b {
		refusal := wireMessage{
			ID:    m.ID,
			Error: json.RawMessage(`{"code":-32001,"message":"Session with given id not found."}`), SessionID: m.SessionID,
		}
		data, err := json.Marshal(refusal)
		if err == nil {
			b.deliver(data)
		}
		return err
	}
	c.next++
	asked := branchCall{b, m.ID}
	m.ID = fmt.Append(nil, c.next)
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode protocol message: %w", err)
	}
	c.branchCalls[c.next] = asked
	c.enqueue(data)
	return nil
}

// Close ends the client's sessions.
func (b *Branch) Close() {
	c := b.conn
	c.mu.Lock()
	for id, of := range c.branches {
		if of == b {
			delete(c.branches, id)
		}
	}
	for id, call := range c.branchCalls {
		if call.branch == b {
			delete(c.branchCalls, id)
		}
	}
	c.mu.Unlock()
	c.Session("", ErrGone).Post(proto.TargetDetachFromTarget{SessionID: proto.TargetSessionID(b.browser)})
}

// passAnswer passes the result with that id to the branch that requested it; it returns false if there is none.
func (c *Conn) passAnswer(id int, data []byte) bool {
	c.mu.Lock()
	call, ok := c.branchCalls[id]
	delete(c.branchCalls, id)
	c.mu.Unlock()
	if ok {
		call.branch.pass(data, call.id)
	}
	return ok
}

// passEvent passes an event of a branch's session to the branch; it returns false if there is none. The connection's
// owner does not see branches' sessions with the browser.
func (c *Conn) passEvent(ev Event, data []byte) bool {
	var p struct {
		SessionID  string `json:"sessionId"`
		TargetInfo struct {
			Type string `json:"type"`
		} `json:"targetInfo"`
	}
	attached := ev.Method == "Target.attachedToTarget"
	if attached || ev.Method == "Target.detachedFromTarget" {
		ev.Decode(&p)
	}
	c.mu.Lock()
	b := c.branches[ev.Session]
	switch {
	case b == nil:
	case attached:
		c.branches[p.SessionID] = b
	case p.SessionID != "":
		delete(c.branches, p.SessionID)
	}
	c.mu.Unlock()
	if b == nil {
		return ev.Session == "" && attached && p.TargetInfo.Type == "browser"
	}
	b.pass(data, nil)
	return true
}

// pass delivers a message in the form it would have on a separate connection.
func (b *Branch) pass(data []byte, id json.RawMessage) {
	var m wireMessage
	if json.Unmarshal(data, &m) != nil {
		return
	}
	m.ID = id
	if m.SessionID == b.root {
		m.SessionID = ""
	}
	if data, err := json.Marshal(m); err == nil {
		b.deliver(data)
	}
}
