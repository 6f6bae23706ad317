// A member of a call made of davey, on standard input and output: one JSON object a line. It keeps the manners of
// the public clients that use davey: which message of the gateway leads to which call, and what is sent back.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);
const davey = require(process.argv[1]);

class Member {
	constructor(user, channel) {
		Object.assign(this, { user, channel, version: 0, pending: new Map(), known: new Set([user]), out: [], everReady: false });
	}

	say(op, payload) { this.out.push({ op, payload: Buffer.from(payload).toString('base64') }); }
	tell(op, transition) { this.out.push({ op, transition }); }

	begin(version) {
		this.version = version;
		if (version === 0) {
			this.session?.reset();
			this.session?.setPassthroughMode(true, 10);
			return;
		}
		if (this.session) this.session.reinit(version, this.user, this.channel);
		else this.session = new davey.DAVESession(version, this.user, this.channel);
		this.say(26, this.session.getSerializedKeyPackage());
	}

	prepare({ transition_id: id, protocol_version: version }) {
		this.pending.set(id, version);
		if (id === 0) return this.execute(0);
		if (version === 0) this.session?.setPassthroughMode(true, 120);
		this.tell(23, id);
	}

	execute(id) {
		if (!this.pending.has(id)) return;
		const before = this.version;
		this.version = this.pending.get(id);
		this.pending.delete(id);
		if (before > 0 && this.version === 0) this.downgraded = true;
		else if (id > 0 && this.downgraded) {
			this.downgraded = false;
			this.session?.setPassthroughMode(true, 10);
		}
	}

	changed(run, id) {
		try {
			run();
		} catch (err) {
			this.tell(31, id);
			this.begin(this.wanted ?? this.version);
			throw err;
		}
		if (id === 0) return;
		this.pending.set(id, this.wanted ?? this.version);
		this.tell(23, id);
	}

	binary(op, payload) {
		switch (op) {
			case 25:
				this.session.setExternalSender(payload);
				return;
			case 27: {
				const { commit, welcome } = this.session.processProposals(payload[0], payload.subarray(1), [...this.known]);
				if (commit) this.say(28, welcome ? Buffer.concat([commit, welcome]) : commit);
				return;
			}
			case 29:
				return this.changed(() => this.session.processCommit(payload.subarray(2)), payload.readUInt16BE(0));
			case 30:
				return this.changed(() => this.session.processWelcome(payload.subarray(2)), payload.readUInt16BE(0));
		}
		throw new Error(`binary op ${op}`);
	}

	json(op, d) {
		switch (op) {
			case 21: return this.prepare(d);
			case 22: return this.execute(d.transition_id);
			case 24:
				this.wanted = d.protocol_version;
				if (d.epoch === 1) this.renew(d.protocol_version);
				return;
		}
		throw new Error(`op ${op}`);
	}

	// renew makes a new group for a version; what is sent stays as it is until the transition.
	renew(version) {
		const now = this.version;
		this.begin(version);
		this.version = now;
	}

	do({ what, ...a }) {
		const bytes = a.payload === undefined ? undefined : Buffer.from(a.payload, 'base64');
		switch (what) {
			case 'choose': this.wanted = a.version; return this.begin(a.version);
			case 'here': a.users.forEach((u) => this.known.add(u)); return;
			case 'gone': this.known.delete(a.users[0]); return;
			case 'binary': return this.binary(a.op, bytes);
			case 'json': return this.json(a.op, a.d);
			case 'encrypt':
				if (this.version === 0 || !this.session) return bytes.toString('base64');
				return this.session.encrypt(a.codec === 1 ? 0 : 1, a.codec, bytes).toString('base64');
			case 'decrypt':
				if (!this.session?.ready || (this.version === 0 && !this.session.canPassthrough(a.users[0]))) return bytes.toString('base64');
				return this.session.decrypt(a.users[0], a.codec === 1 ? 0 : 1, bytes).toString('base64');
			case 'state':
				return {
					code: this.session?.voicePrivacyCode ?? '', epoch: Number(this.session?.epoch ?? 0),
					authenticator: this.session?.getEpochAuthenticator()?.toString('hex') ?? '', ready: this.session?.ready ?? false,
				};
			case 'verify': return this.session.getVerificationCode(a.users[0]);
		}
		throw new Error(`what is ${what}?`);
	}
}

const members = new Map();
for await (const line of createInterface({ input: process.stdin })) {
	const { user, channel, ...request } = JSON.parse(line);
	if (!members.has(user) || request.what === 'choose') {
		const known = members.get(user)?.known;
		const m = new Member(user, channel);
		known?.forEach((u) => m.known.add(u));
		members.set(user, m);
	}
	const m = members.get(user);
	const reply = {};
	try {
		reply.result = await m.do(request);
	} catch (err) {
		reply.error = String(err);
	}
	reply.out = m.out.splice(0);
	process.stdout.write(JSON.stringify(reply) + '\n');
}
