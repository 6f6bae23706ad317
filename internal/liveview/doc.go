// Package liveview shows the page of a session to people over a WebSocket, and lets one of them at a time work it.
//
// The front ends (dashboard, links, Activity) decide who somebody is and accept the WebSocket; see [sessions.Viewer] and
// [Server.Serve]. The server sends binary messages, each a frame: a byte (1 JPEG, 2 VP8), the length of a JSON header as
// a big-endian uint32, the header {n,w,h,vw,vh}, the picture. A viewer acknowledges each with {"type":"ack","n":n}; who
// is slow gets fewer, and the latest. Video is sent to those who decode it ({"type":"video"}) and to whom pictures come
// late: on a narrow line it is sooner there, elsewhere it would cost a browser more. Text messages tell the rest, see [State];
// those of the viewer are described by message. Places are CSS pixels of the viewport, which is vw wide; modifiers
// are Alt 1, Control 2, Meta 4, Shift 8. Its assets are the pane that our pages put where it is wanted: pane.js makes
// it, hands.js tells what is done with mouse, fingers and keys.
//
// Nothing is captured while nobody watches, nothing is kept, and what a person types is logged nowhere. It knows
// neither links nor Discord.
package liveview
