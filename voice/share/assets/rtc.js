// Watches over WebRTC.

const patience = 4000; // for the first picture; then the other way is taken

// watchRTC resolves to { close() } when the first picture is there, and to null when none comes. over(ended, text) is called once when
// it ends later.
export async function watchRTC(video, info, post, live, over) {
  if (!globalThis.RTCPeerConnection) return null;
  const pc = new RTCPeerConnection({ iceServers: info.ice_servers ?? [] });
  globalThis.viewerConnection = pc; // for whoever looks for faults in it: getStats
  let running = true;
  const close = () => {
    running = false;
    pc.close();
    video.srcObject = null;
  };
  const end = (ended, text) => {
    if (!running) return;
    close();
    over(ended, text);
  };
  try {
    const notes = pc.createDataChannel("clank");
    pc.addTransceiver("video", { direction: "recvonly" });
    const picture = new Promise((resolve) => {
      setTimeout(() => resolve(false), patience);
      pc.addEventListener("track", (event) => {
        video.srcObject = new MediaStream([event.track]);
        video.addEventListener("loadeddata", () => resolve(true), { once: true });
      });
      pc.addEventListener("connectionstatechange", () => {
        if (pc.connectionState === "failed") resolve(false);
      });
    });
    await pc.setLocalDescription();
    await gathered(pc);
    const answer = await post("watch", { sdp: pc.localDescription.sdp });
    await pc.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    if (!await picture) {
      close();
      return null;
    }
    notes.addEventListener("message", (event) => {
      const { type, text } = JSON.parse(event.data);
      if (type === "ended") end(true, text);
    });
    notes.addEventListener("close", () => end(false));
    pc.addEventListener("connectionstatechange", () => {
      if (pc.connectionState === "failed") end(false);
    });
    live(video, "WebRTC");
    return { close };
  } catch (error) {
    close();
    if (error.status === 404 || error.status === 503) throw error;
    return null;
  }
}

// gathered waits until the offer has all addresses, or long enough.
export function gathered(pc) {
  return new Promise((resolve) => {
    if (pc.iceGatheringState === "complete") resolve();
    pc.addEventListener("icegatheringstatechange", () => pc.iceGatheringState === "complete" && resolve());
    setTimeout(resolve, 2000);
  });
}
