// Package browsertool provides the tool "browser": one flat set of parameters with which a model operates a browser
// step by step, through a control API on this machine, in a sandbox or on another machine (a node). It also serves
// the tool, and the browse agent, to clients of the Model Context Protocol, over pipes or streamable HTTP on
// loopback.
//
// A tool lasts for the program; a session is one conversation, and closes the tabs that it opened at its end. Page
// text reaches the model only between markers. Files named in answers are read only from allowed directories. The
// node proxy is an http.Handler that admits only what the owner of the machine allows; it does not provide TLS. The
// package contains neither the agent loop nor a browser.
package browsertool
