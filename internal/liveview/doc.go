// Package liveview shows the page of a session to people over a WebSocket, and lets one of them at a time control it.
//
// The front ends (dashboard, links, Activity) authenticate people and accept the WebSocket; see [sessions.Viewer] and
// [Server.Serve]. Each binary message of the server is a frame: a byte (1 JPEG, 2 VP8), the length of a JSON header
// as a big-endian uint32, the header {n,w,h,vw,vh}, and the image. A viewer acknowledges each frame with
// {"type":"ack","n":n}; slow viewers get fewer frames, always the latest. Video is sent to viewers that decode it
// ({"type":"video"}) and to whom images arrive late: on a slow connection it arrives sooner, elsewhere it would only
// cost an additional browser. Text messages contain everything else, see [State]; type message describes those of the
// viewer. Coordinates are CSS pixels of the viewport, which is vw wide; modifiers are Alt 1, Control 2, Meta 4, Shift
// 8. The assets implement the pane for our pages: pane.js creates it, hands.js sends mouse, touch and keyboard input.
//
// Nothing is captured while nobody watches, nothing is stored, and typed text is never logged. The package knows
// neither links nor Discord.
package liveview
