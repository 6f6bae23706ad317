// Package browsertool is the tool "browser": one flat set of parameters by which a model works a browser step by step,
// through a control API on this machine, in a sandbox or on another machine (a node). It also serves the tool, and the
// browse agent, to clients of the Model Context Protocol, over pipes or streamable HTTP on loopback.
//
// A tool lasts for the program; a session is one conversation, and closes at its end the tabs that it opened. What
// pages say reaches the model between markers only. Files that an answer names are read from allowed directories only.
// The node's proxy is an http.Handler and lets through what the owner of the machine allows; it makes no TLS of its
// own. It is not the agent loop, and it holds no browser.
package browsertool
