// Package agent is what both loops share: actions held to what people agreed to, opening a page again,
// noticing that a model goes in circles, the frame of a prompt, and the words for what is done.
//
// It has no loop and no conversation. It knows no browser and no vendor.
package agent
