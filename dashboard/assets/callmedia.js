// Microphone, levels and the connection of a call.

const connectWithin = 15_000;

const refusals = {
  NotAllowedError: "This page may not use the microphone. Allow it in the browser's address bar and join again, or only listen.",
  NotFoundError: "There is no microphone. Connect one and join again, or only listen.",
  NotReadableError: "The microphone cannot be used now. Another program may have it.",
};

// microphone asks for the microphone. An Error says for people why there is none.
export async function microphone() {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new Error("Browsers give the microphone only to pages over https or from this machine: use 127.0.0.1 in the address, or only listen.");
  }
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
  } catch (error) {
    throw new Error(refusals[error.name] ?? `The microphone cannot be used: ${error.message}`);
  }
}

// watchLevel tells how loud a stream is, 0 to 1, about 20 times a second, until what it returns is called.
export function watchLevel(stream, tell) {
  const context = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: 1024 });
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, v) => sum + v * v, 0) / samples.length;
    tell(Math.min(1, Math.sqrt(power) * 4));
  }, 50);
  return () => {
    clearInterval(timer);
    context.close();
    tell(0);
  };
}

// connect joins, and resolves to { say, close } when the connection stands. lost is called once if it ends later by itself.
// say reports whether the message could be sent.
export async function connect({ servers, mic, join, tell, track, lost }) {
  const pc = new RTCPeerConnection({ iceServers: servers });
  globalThis.callConnection = pc; // for whoever looks for faults in it: getStats
  let running = true;
  const close = () => {
    running = false;
    pc.close();
  };
  const end = () => {
    if (!running) return;
    close();
    lost();
  };
  const notes = pc.createDataChannel("clank");
  notes.addEventListener("message", (event) => running && tell(JSON.parse(event.data)));
  pc.addEventListener("track", (event) => track(event.track.kind, new MediaStream([event.track])));
  if (mic) for (const t of mic.getAudioTracks()) pc.addTrack(t, mic);
  else pc.addTransceiver("audio", { direction: "recvonly" });
  pc.addTransceiver("video", { direction: "recvonly" });
  try {
    await pc.setLocalDescription();
    await gathered(pc);
    const answer = await join(pc.localDescription.sdp);
    await pc.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    await opened(pc, notes);
  } catch (error) {
    close();
    throw error;
  }
  notes.addEventListener("close", end);
  pc.addEventListener("connectionstatechange", () => pc.connectionState === "failed" && end());
  const say = (message) => {
    if (notes.readyState !== "open" || pc.connectionState !== "connected") return false;
    notes.send(JSON.stringify(message));
    return true;
  };
  return { close, say };
}

// gathered waits until the offer has all addresses, or long enough.
function gathered(pc) {
  return new Promise((resolve) => {
    if (pc.iceGatheringState === "complete") resolve();
    pc.addEventListener("icegatheringstatechange", () => pc.iceGatheringState === "complete" && resolve());
    setTimeout(resolve, 2000);
  });
}

function opened(pc, notes) {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new Error("Could not connect: a firewall or the settings of the browser block WebRTC."));
    if (notes.readyState === "open") resolve();
    notes.addEventListener("open", resolve);
    pc.addEventListener("connectionstatechange", () => pc.connectionState === "failed" && refuse());
    setTimeout(refuse, connectWithin);
  });
}
