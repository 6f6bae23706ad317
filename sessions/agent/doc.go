// Package agent is shared by both agent loops: approved actions, reopening pages, detecting models that repeat
// themselves, the frame of a prompt, and labels for people.
//
// It has no loop and no conversation. It knows no browser and no vendor.
package agent
