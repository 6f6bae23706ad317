package cdp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-rod/rod/lib/proto"
)

// Branch is another client on the connection: it has a session of its own to the browser and those that come of it, and
// knows nothing of the rest. To it the branch is as a connection of its own would be.
type Branch struct {
	conn    *Conn
	browser string // its session to the browser
	root    string // the session of messages that name none
	deliver func(message []byte)
}

// wireMessage is a request, an answer or an event as a branch passes it on.
type wireMessage struct {
	ID        json.RawMessage `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
}

// branchCall is a request of a branch that has no answer yet, and the id that the client gave it.
type branchCall struct {
	branch *Branch
	id     json.RawMessage
}

// Branch opens one. What the client sends without a session is for the browser, or for the target if one is named.
// deliver is called with each message for the client, on the reading goroutine, and must not block.
func (c *Conn) Branch(ctx context.Context, target string, deliver func(message []byte)) (*Branch, error) {
	at, err := Ask[proto.TargetAttachToBrowserTargetResult](ctx, c.Session("", ErrGone), proto.TargetAttachToBrowserTarget{})
	if err != nil {
		return nil, fmt.Errorf("open another session to the browser: %w", err)
	}
	b := &Branch{conn: c, browser: string(at.SessionID), root: string(at.SessionID), deliver: deliver}
	if target == "" {
		c.adoptBranch(b)
		return b, nil
	}
	// What leads to the page's session is not for the client.
	way := &Branch{conn: c, browser: b.browser, root: b.browser, deliver: func([]byte) {}}
	c.adoptBranch(way)
	req := proto.TargetAttachToTarget{TargetID: proto.TargetTargetID(target), Flatten: true}
	page, err := Ask[proto.TargetAttachToTargetResult](ctx, c.Session(b.browser, ErrGone), req)
	if err != nil {
		way.Close()
		return nil, fmt.Errorf("open another session to a page: %w", err)
	}
	b.root = string(page.SessionID)
	c.adoptBranch(b)
	return b, nil
}

// adoptBranch has a branch get what its sessions say.
func (c *Conn) adoptBranch(b *Branch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.branches[b.browser], c.branches[b.root] = b, b
}

// Send passes a message of the client on.
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
		refusal := wireMessage{ID: m.ID, Error: json.RawMessage(`{"code":-32001,"message":"Session with given id not found."}`), SessionID: m.SessionID}
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

// passAnswer gives the answer with that id to the branch that asked; false if none did.
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

// passEvent gives an event of a branch's session to the branch; false if the session is no branch's. The connection's
// owner is not told of the sessions to the browser that branches have.
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

// pass has the client see a message as its own connection would show it.
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
