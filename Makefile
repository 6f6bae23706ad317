# The two commands most people need are "make run" and "make test".

GO ?= go
BIN := bin/clank
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

# Compile tests like the program, without C and independent of the clone's path, so that all targets share the build cache.
# Debug information, which nothing here reads, would take a sixth of the compiler's time.
export CGO_ENABLED ?= 0
export GOFLAGS ?= -trimpath -gcflags=all=-dwarf=false

# Build test binaries without vet, which "make lint" runs, and link them without debug information.
QUICK := -vet=off -ldflags=-w -timeout 30m

# Collecting garbage less often takes an eighth off the compiler's time and a quarter off that of the linters.
COMPILE := GOGC=400

space := $(subst ,, )

# Libraries that compute in a single goroutine, and SQLite with the memory and locks that it takes for C's: the race detector would
# quadruple their time to look for races that are not ours.
RACE := -race $(foreach p,modernc.org/sqlite/lib modernc.org/libc modernc.org/memory golang.org/x/crypto/scrypt golang.org/x/crypto/pbkdf2 github.com/thesyncim/gopus/...,'-gcflags=$(p)=-race=false -dwarf=false')

GOLANGCI := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: windows chaos release reproducible manual mutation cross deploy discord-faults discord-pictures run prepare build man test test-peers race race-compile lint vulncheck fmt fuzz smoke bench bench-baseline bench-compare bench-stop bench-load soak bench-overhead bench-dashboard voice-loop share-loop live pages wheel endurance corpus other-half widgets names bench-peers conformance range isolation trust chromium speech clean help apps

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

run: chromium build ## find or install Chromium, build, start
	@if [ "$$(id -u)" = 0 ] && [ -z "$$CLANK_NO_SANDBOX" ]; then \
		echo "make run: as root Chromium has no sandbox. Setting CLANK_NO_SANDBOX=1: do this in a container only, otherwise run as another user."; \
		export CLANK_NO_SANDBOX=1; \
	fi; exec $(BIN) serve

chromium: ## find or install Chromium
	@scripts/ensure-chromium >/dev/null

speech: ## find or install the speech programs for tests of calls
	@scripts/ensure-speech --tests

prepare: ## find or install Chromium and the speech programs, and compile meanwhile
	@$(COMPILE) $(GO) build ./... & $(MAKE) chromium speech; installed=$$?; wait $$! && exit $$installed

build: ## build the static binaries: bin/clank, and bin/clank-browser with "clank browser" alone
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN) ./cmd/clank
	@CGO_ENABLED=0 $(GO) build -trimpath -tags browseronly -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN)-browser ./cmd/clank
	@for b in $(BIN) $(BIN)-browser; do dd if=$$b of=$$b.copy bs=1048576 2>/dev/null && chmod 755 $$b.copy && mv $$b.copy $$b; done # starts sooner: see docs/performance.md

man: ## write a manual page for each command into bin/man
	@mkdir -p bin/man/man1
	@$(GO) test ./cmd/clank -count=1 -run '^TestEveryCommandHasAManualPage$$' -man.dir $(abspath bin/man/man1) >/dev/null
	@echo "bin/man: see it with  man -M bin/man clank"

release: ## archives, packages, a bill of materials and checksums, in dist (TARGETS="linux/amd64 …")
	@TARGETS="$(TARGETS)" scripts/release

reproducible: ## build a release from two clones in different folders and compare all bytes (TARGETS="linux/amd64 …", BINARIES=1, FRESH=1)
	@TARGETS="$(TARGETS)" BINARIES="$(BINARIES)" FRESH="$(FRESH)" scripts/reproducible

test: prepare ## run the tests, without those of other-half (PACKAGES=./...)
	@$(GO) test $(QUICK) $(TESTFLAGS) -p 4 -parallel 4 $(or $(PACKAGES),./...)

test-peers: chromium ## the tests against third-party programs from npm, and against the vendors' client libraries
	CLANK_PEERS=1 $(GO) test -count=1 ./bot ./browseagent/browsertool ./browsermgr ./internal/activity ./internal/test/callpeers ./internal/test/llmtest ./voice/discord/dave
	$(GO) test -count=1 -tags peers ./llm/... ./computeruse/...

race: chromium speech ## run the tests of concurrent packages with the race detector, without the longest tables of cases (PACKAGES=those that scripts/concurrent lists)
	@CGO_ENABLED=1 GORACE=atexit_sleep_ms=100 $(GO) test $(QUICK) $(TESTFLAGS) $(RACE) -short -p 3 -parallel 4 $(or $(PACKAGES),$$(scripts/concurrent))

race-compile: ## compile the tests of "make race"
	@CGO_ENABLED=1 $(COMPILE) $(GO) list $(RACE) -test -deps -export $(or $(PACKAGES),$$(scripts/concurrent)) >/dev/null

lint: ## run the linters, including go vet
	$(COMPILE) $(GOLANGCI) run ./...

# Vet reads only the types of what is compiled.
cross: ## compile and vet the program and its tests for each system of a release (TARGETS="windows/amd64 …" PACKAGES=./...; the first time takes many minutes)
	@for t in $(or $(TARGETS),linux/amd64 linux/arm64 darwin/arm64 darwin/amd64 windows/amd64); do \
		echo "$$t"; GOOS=$${t%/*} GOARCH=$${t#*/} $(COMPILE) $(GO) vet '-gcflags=all=-dwarf=false -N -l' $(or $(PACKAGES),./...) || exit 1; done

# The Wine of Debian 13 is new enough; version 8 of Debian 12 lacks functions that Go needs.
WINE ?= wine
windows: ## run the tests of files, locks, pipes, processes, the vault, settings and the network on Windows, with Wine 9 or newer (WINE=wine)
	@command -v $(WINE) >/dev/null || { echo "make windows: there is no $(WINE): apt-get install --no-install-recommends wine wine64"; exit 1; }
	@GOOS=windows GOARCH=amd64 WINEDEBUG=-all $(GO) test $(QUICK) -count=1 -timeout 3m -exec $(WINE) \
		./browsermgr/address ./browsermgr/cdp ./internal/atomicfile ./internal/hardening ./internal/settings ./internal/vault
	@GOOS=windows GOARCH=amd64 WINEDEBUG=-all $(GO) test $(QUICK) -count=1 -timeout 3m -exec $(WINE) \
		-run '^Test(MemoryOfAProcessGrows|HolderOfAPortIsFound)$$' ./browsermgr/chrome

vulncheck: ## list known vulnerabilities in the functions that the code calls
	@scripts/vulncheck || [ $$? -eq 75 ] # 75: it says that nothing is known

fmt: ## format the code
	$(GOLANGCI) fmt ./...

fuzz: ## fuzz each target for a short time (FUZZTIME=5s, THIRD=1: a third of the packages, a different one each day)
	@THIRD="$(THIRD)" TESTFLAGS="$(QUICK) $(TESTFLAGS)" scripts/fuzz "$(or $(FUZZTIME),5s)"

mutation: ## mutation tests of core packages: list the small changes that their tests miss (PACKAGES="./cancel …")
	@scripts/mutation $(PACKAGES)

smoke: chromium build ## the README's first steps in the terminal, on the chat page and in Discord, with a line for each feature
	@$(GO) test $(QUICK) ./cmd/clank -count=1 -run '^Test(TheFirstTry|FromNothingThroughTheSetUpPage)$$' -v -program $(abspath $(BIN)) \
		| awk '/^ *--- |_test.go:[0-9]+: |^(ok|FAIL|panic)/ {print} /^(FAIL|panic)/ {bad=1} END {exit bad}'

manual: chromium build ## run the commands that README.md and the pages in docs show
	@$(GO) tool pprof -h >/dev/null 2>&1 # compiled at its first call
	@$(GO) test $(QUICK) ./cmd/clank -count=1 -parallel 4 -run '^TestTheManual$$' -program $(abspath $(BIN))

discord-pictures: chromium build ## draw messages of the bot for docs/discord.md, from a run of make smoke
	@mkdir -p docs/discord
	@$(GO) test ./cmd/clank -count=1 -run '^TestTheFirstTry$$' -program $(abspath $(BIN)) -discord.pictures $(abspath docs/discord)

deploy: chromium build ## test deploy/ with Debian's Prometheus, reverse proxies with nginx and Caddy, and completion with zsh and fish
	@scripts/check-deploy $(BIN)

bench: chromium ## all benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-baseline: ## measure the benchmarks that need no browser and keep the result, scripts/bench-baseline.txt
	@scripts/bench baseline

bench-compare: ## measure them again and compare with benchstat
	@scripts/bench compare

bench-stop: chromium ## the duration of a stop, by stage (ROUNDS=20)
	@$(GO) test ./cmd/clank -count=1 -timeout 30m -run '^TestStopAtEveryStage$$' -v -stop.rounds=$(or $(ROUNDS),20) \
		| awk '/^(---|FAIL|panic)/ || / n=[0-9]/ || /_test.go:[0-9]+: / || /TempDir|left behind/ {print} /^stop: /{last=$$0} END {print last}'

bench-dashboard: ## latency of a dashboard with fifty servers: responses, and events to twenty viewers (MINUTES=2)
	@$(GO) test ./dashboard -count=1 -timeout 3h -run '^TestTheDashboardOfFiftyServers$$' -v -dashboard.minutes $(or $(MINUTES),2) \
		| awk '/^(---|FAIL|panic)/ {print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); print}'

bench-load: chromium build ## 1 to 64 people who browse concurrently through all front ends, compared with rod and playwright (PEOPLE=1,4,8 SECONDS=10)
	@$(GO) test $(QUICK) ./cmd/clank -count=1 -timeout 30m -run '^TestLoad$$' -v -program $(abspath $(BIN)) -load.peers $(abspath .cache/peers) \
		-load.people '$(if $(PEOPLE),$(PEOPLE),1,4,8,16,32,64)' -load.for $(or $(SECONDS),10)s \
		| awk '/^(---.*FAIL|FAIL|panic)/ {bad = 1; print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); print} END {exit bad}'

soak: chromium build ## soak test at 60 % load, which looks for growing memory and other resources (MINUTES=30)
	@$(GO) test $(QUICK) ./cmd/clank -count=1 -timeout 0 -run '^TestSoak$$' -v -program $(abspath $(BIN)) -soak.minutes $(or $(MINUTES),30) \
		| awk '/^(---.*FAIL|FAIL|panic)/ {bad = 1; print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); print} END {exit bad}'

bench-overhead: chromium ## the time of a step other than that of its model and Chromium (TASKS=20)
	@$(GO) test ./cmd/clank -count=1 -timeout 30m -run '^TestOverheadOfAStep$$' -v -overhead.tasks=$(or $(TASKS),20) \
		| awk '/^(---|FAIL|panic)/ || /_test.go:[0-9]+: / || /TempDir|left behind/ {print} /^overhead: / {print}'

voice-loop: chromium build ## recognition rate of spoken stop words in calls, and the time until a browse ends
	@scripts/ensure-speech
	@$(GO) test ./internal/test/voiceloop -count=1 -timeout 30m -run '^TestVoiceLoop$$' -v -voice.bin $(abspath $(BIN)) \
		| awk '/^(---|FAIL|panic)/ {print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); print}'

endurance: ## two hours of calls in simulated time, with network faults
	@CLANK_ENDURE=1 $(GO) test ./internal/test/endurance -count=1 -timeout 30m -run '^TestTwoHours' -v \
		| awk '/^(---|FAIL|panic)/ {print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); if (/^endurance: /) last = last $$0 "\n"; else print} END {printf "%s", last}'

discord-faults: ## messages to people during faults of Discord: errors, outages of three minutes, lost connections
	@$(GO) test ./bot -count=1 -timeout 15m -parallel 64 -run '^TestDiscordFaults$$' -v -faults.real \
		| awk '/^ *(---.*FAIL|FAIL|panic)/ {bad = 1; print} /faults_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); if (/^discord: /) last = $$0; else print} END {print last; exit bad || !last}'

share-loop: chromium ## quality, latency and CPU time of pages shared by Go Live
	@$(GO) test ./internal/test/shareloop -count=1 -timeout 10m -run '^TestShareLoop$$' -v -share.whole \
		| awk '/^(---|FAIL|panic)/ {print; next} /^[a-z].*=[0-9]/ && !/^share: / {print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); print} /^share: / {last=$$0} END {print last}'

live: chromium ## latency, frame rate and cost of a live page in each kind of viewer
	@$(GO) test ./cmd/clank -count=1 -timeout 30m -run '^TestLive$$' -v -live \
		| awk '/^(---|FAIL|panic|live: )/ {print; next} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); print}'

pages: chromium ## every page of the dashboard in each state, with axe and the keyboard, 320 to 2560 pixels wide (ONLY="full-chat empty-")
	@$(GO) test $(QUICK) ./dashboard -count=1 -timeout 40m -run '^TestPages$$' -v -pages.out $(abspath .cache/pages/pictures) -pages.only '$(ONLY)' \
		| awk '/^ *(---.*FAIL|FAIL|panic)/ {bad = 1; print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); \
			if (/^pages: pages=/) last = $$0; else print} END {print last; exit bad || !last}'

chaos: chromium ## inject faults at each stage of a task (ONLY=pattern; faults of disks and memory need root)
	@$(GO) test $(QUICK) ./cmd/clank -count=1 -timeout 30m -run '^TestChaos$$' -v -chaos -chaos.only '$(ONLY)' \
		| awk '/left goroutines behind/ {leak = bad = 1} leak {print; next} /^ *(---.*FAIL|FAIL|panic)/ {bad = 1; print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); if (/^chaos: /) last = $$0; else print} END {print last; exit bad || !last}'

wheel: chromium ## a person logs in by hand while a task waits: input latency, and who can read what was typed
	@$(GO) test ./cmd/clank -count=1 -timeout 5m -run '^TestWheel$$' -v -other \
		| awk '/^(---|FAIL|panic)/ {print; next} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); print}'

corpus: chromium ## every task of the corpus through every backend
	@$(GO) test ./internal/test/corpus -count=1 -timeout 30m -run '^TestTheCorpusIsDoneByEveryBackend$$' -v -whole \
		| awk '/^ *(---.*FAIL|FAIL|panic)/ {print} /(tasks|corpus): / {sub(/^.*_test.go:[0-9]+: /, ""); print}'

# Those that take half a minute or more, in three parts of about the same time.
LONG_TESTS := OneClankInManyRooms|ClicksLandWhereThePictureShowsTheirTarget|NothingThatAPageLeavesCrossesPlaces|NothingIsLostWhileTheProgramIsReplaced \
	AMonthOnManyServersMixesNothingUp|TheCorpusIsDoneByEveryBackend|ACallOnDiscord|OneServerForPeopleAndPrograms \
	Wheel|NoPageLeavesItsBoundary.*|RunsAreShown.*|Load
OTHER_TESTS := Chaos|NoByteThatLeavesTellsAPassword|APasswordInATaskIsKeptAndToldNowhere|PagesReachTheShop.*|ThePersonAtAnMCPClientIsAsked|TheFirstAnswerToAnMCPClientsQuestionCounts|EveryRuntimeWorksAFormAndACanvas|WhatAVendorWarnsOf.*|NothingIsDoneAfterAStop|ATaskGoesOnAfterARestart.*|APasswordIsNowhereAfterwards|TheRangeReportsAHole

other-half: chromium speech ## the tests that "make test" leaves out: most tasks of the corpus, attacks and views, rooms, calls and places (THIRD=1: a third of the long ones, a different one each day)
	@$(GO) test $(QUICK) $(TESTFLAGS) -p 3 -parallel 4 -timeout 30m ./cmd/clank ./browsermgr ./computeruse ./internal/server ./internal/test/corpus ./internal/test/hostile ./internal/test/injection \
		-run '^Test($(OTHER_TESTS)|$(if $(THIRD),$(word $(shell expr $$(date -u +%j) % 3 + 1),$(LONG_TESTS)),$(subst $(space),|,$(strip $(LONG_TESTS)))))$$' -other

names: chromium ## compare roles, names and states of snapshots with Chromium's accessibility tree, on the corpus and the widgets
	@CLANK_PEERS=1 $(GO) test ./browsermgr/page ./internal/test/widgets -count=1 -timeout 30m -run '^TestNames' -v \
		| awk '/^(---.*FAIL|FAIL|panic)/ {print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); \
			if (/^names: /) {split($$0, n, "[= ]"); all += n[3]; same += n[5]} else print} \
			END {printf "names: elements=%d equal=%d percent=%.1f\n", all, same, 100 * same / all}'

widgets: chromium ## tasks on pages of component libraries from npm, solved with snapshots and refs (SENTENCES=1: by plain too)
	@CLANK_PEERS=1 $(GO) test ./internal/test/widgets -count=1 -timeout 60m -run '^TestWidgets$$$(if $(SENTENCES),|^TestSentences$$)' -v \
		| awk '/^(---.*FAIL|FAIL|panic)/ {bad = 1; print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); \
			if (/^(widgets|plain): [0-9]/) last = last (last ? "\n" : "") $$0; else print} END {print last; exit bad || !last}'

apps: chromium ## tasks on applications from Debian and npm, by a policy that reads only snapshots
	@scripts/ensure-apps
	@$(GO) test ./internal/test/widgets -count=1 -timeout 30m -run '^TestApps$$' -apps -v \
		| awk '/^(---.*FAIL|FAIL|panic)/ {bad = 1; print} /_test.go:[0-9]+: (apps|node-red): / {sub(/^.*_test.go:[0-9]+: /, ""); \
			if (/^apps: [0-9]/) last = $$0; else print} END {print last; exit bad || !last}'

bench-peers: chromium build ## compare the browser's speed and refs with playwright-core and agent-browser (ROUNDS=30, ONLY=names)
	@$(GO) run ./internal/test/peers -rounds $(or $(ROUNDS),30) -only "$(ONLY)" $(BIN)
	@[ -n "$(ONLY)" ] || CLANK_PEERS=1 $(GO) test ./internal/test/widgets -count=1 -timeout 30m -run '^TestRefsOfPlaywright$$' -v \
		| awk '/^(---.*FAIL|FAIL|panic)/ || sub(/^.*_test.go:[0-9]+: /, "")'

isolation: chromium ## check that data of pages in one of sixteen places is not visible in the others (PLACES=16)
	@$(GO) test ./browsermgr -count=1 -timeout 30m -run '^TestNothingThatAPageLeavesCrossesPlaces$$' -v -isolation.places=$(or $(PLACES),16) \
		| awk '/^(---.*FAIL|FAIL|panic)/ {print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); if (/^isolation: /) last = $$0; else print} END {print last}'

range: chromium build ## pages that try to reach forbidden addresses, with and without the proxy (EVERY=1)
	@mkdir -p .cache && $(GO) build -o .cache/hostile ./internal/test/hostile && .cache/hostile -every $(or $(EVERY),1) $(BIN)

trust: chromium build ## attacks of pages, members, models and other accounts on the running program, and its questions (FEW=1, HOLES=1)
	@{ $(if $(FEW)$(HOLES),,$(GO) test ./browsermgr/page/intent -count=1 -v -run '^TestConsequentialActsAreAskedAboutAndOrdinaryOnesAreNot$$' -acts.whole;) \
		$(GO) test $(QUICK) ./internal/test/hostile -count=1 -timeout 20m -run '^TestTrust$$' -v -trust.bin $(abspath $(BIN)) \
			-trust.only '$(ONLY)' $(if $(FEW),-trust.quick) $(if $(HOLES),-trust.holes); } \
		| awk '/^ *(--- FAIL|FAIL|panic)/ {bad = 1; print} /_test.go:[0-9]+: / {sub(/^.*_test.go:[0-9]+: /, ""); \
			if (sub(/^acts: languages=[0-9]+ /, "")) acts = $$0; else if (/^trust: attacks=/) last = $$0; else print} \
			END {print last, acts; exit bad || !last}'

conformance: chromium build ## the control API's contract against the running binary
	@mkdir -p .cache && $(GO) test $(QUICK) -c -o .cache/contract ./browsermgr/control
	@.cache/contract -test.run '^TestContract$$' -test.timeout 20m -control.bin $(BIN)

clean: ## remove build results
	rm -rf bin dist .cache
