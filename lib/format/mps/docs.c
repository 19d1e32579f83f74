/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the event types of all releases and their parameters are, in a few words:
 * what .reg.doc and .reg.param.doc of the MPS's design.mps.telemetry ask for.
 *
 * The parameters that release 1.118 has are described as in its registry
 * (eventdef.h, (c) 2001-2020 Ravenbrook Limited, under the licence of teltools),
 * as a database must say the same as that of its own mpseventsql.
 */
#include "format/mps/mps.h"

#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct {
	const char *type, *doc;
	const char *fields; /* name and description of one after the other */
} docs[] = { /* by names */
	{ "AMCFinish",
	    "an AMC pool is finished",
	    "amc\0the AMC pool\0" },
	{ "AMCFix",
	    "a reference to an object of an AMC pool is fixed",
	    "" },
	{ "AMCFixForward",
	    "an object of an AMC pool is copied, and the reference forwarded",
	    "newRef\0where the object is now\0" },
	{ "AMCFixInPlace",
	    "an ambiguous reference keeps an object of an AMC pool in place",
	    "" },
	{ "AMCGenCreate",
	    "an AMC pool makes a generation",
	    "amc\0the AMC pool\0"
	    "gen\0the generation\0" },
	{ "AMCGenDestroy",
	    "an AMC pool destroys a generation",
	    "gen\0the generation\0" },
	{ "AMCInit",
	    "an AMC pool is initialised",
	    "pool\0the pool\0"
	    "amc\0the AMC pool, which it is part of\0" },
	{ "AMCReclaim",
	    "an AMC pool reclaims a segment",
	    "gen\0the generation\0"
	    "trace\0the trace\0"
	    "seg\0the segment\0" },
	{ "AMCScanBegin",
	    "an AMC pool begins to scan a segment",
	    "amc\0the AMC pool\0"
	    "seg\0the segment\0"
	    "ss\0the scan state\0" },
	{ "AMCScanEnd",
	    "an AMC pool ends the scan of a segment",
	    "amc\0the AMC pool\0"
	    "seg\0the segment\0"
	    "ss\0the scan state\0" },
	{ "AMCScanNailed",
	    "an AMC pool scanned a segment with objects that are kept in place",
	    "loops\0number of times around the loop\0"
	    "summary\0summary of segment being scanned\0"
	    "white\0scan state white set\0"
	    "unfixed\0scan state unfixed summary\0"
	    "fixed\0scan state fixed summary\0"
	    "refset\0scan state refset\0" },
	{ "AMCTraceEnd",
	    "what a collection kept in place in an AMC pool, in pages and segments",
	    "epoch\0the arena's epoch\0"
	    "why\0why the trace started\0"
	    "align\0size of a page in bytes\0"
	    "grainSize\0size of a page in bytes\0"
	    "large\0pages of the smallest large segment\0"
	    "pRetMin\0pages retained, from which the event is logged\0"
	    "pCond\0pages condemned\0"
	    "pRet\0pages retained in place\0"
	    "pCS\0pages condemned in small segments\0"
	    "pRS\0pages retained in small segments\0"
	    "sCM\0medium segments condemned\0"
	    "pCM\0pages condemned in medium segments\0"
	    "sRM\0medium segments retained\0"
	    "pRM\0pages retained in medium segments\0"
	    "pRM1\0of these, as their first object was retained\0"
	    "pRMrr\0of these, pages of other objects retained\0"
	    "pRMr1\0of these, pages of first objects, as padding\0"
	    "sCL\0large segments condemned\0"
	    "pCL\0pages condemned in large segments\0"
	    "sRL\0large segments retained\0"
	    "pRL\0pages retained in large segments\0"
	    "pRLr\0of these, as other objects than the first were retained\0" },
	{ "AWLDeclineSeg",
	    "an AWL pool scans a segment at once, as it was scanned object by object too often",
	    "seg\0segment declined single access\0"
	    "singleAccesses\0single accesses this cycle\0" },
	{ "AWLDeclineTotal",
	    "an AWL pool scans a segment at once, as accesses followed each other too often",
	    "seg\0segment declined single access\0"
	    "succAccesses\0total successive accesses\0" },
	{ "ArenaAccess",
	    "a protected address was accessed",
	    "arena\0the arena\0"
	    "count\0number of the access\0"
	    "addr\0address that was accessed\0"
	    "mode\0set of access modes\0" },
	{ "ArenaAccessBegin",
	    "an access to a protected address begins to be handled",
	    "arena\0the arena\0"
	    "addr\0address that was accessed\0"
	    "mode\0set of access modes\0" },
	{ "ArenaAccessEnd",
	    "an access to a protected address has been handled",
	    "arena\0the arena\0" },
	{ "ArenaAlloc",
	    "an arena allocated memory for a pool",
	    "arena\0the arena\0"
	    "baseTract\0first allocated tract\0"
	    "base\0base of the allocated block\0"
	    "size\0size of the allocated block in bytes\0"
	    "pool\0pool that requested the allocation\0" },
	{ "ArenaAllocFail",
	    "an arena failed to allocate memory for a pool",
	    "arena\0the arena\0"
	    "size\0requested allocation size\0"
	    "pool\0pool that requested allocation\0"
	    "res\0result code\0" },
	{ "ArenaBlacklistZone",
	    "zones that ambiguous references may point to are avoided",
	    "arena\0the arena\0"
	    "zoneSet\0the zones\0" },
	{ "ArenaCreateCL",
	    "an arena was made in memory that the client gave",
	    "arena\0the arena\0"
	    "size\0size of memory given to arena in bytes\0"
	    "base\0base address of memory given to arena\0"
	    "grainSize\0arena's grain size in bytes\0"
	    "arenaClass\0arena's class\0"
	    "systemPools\0number of system pools\0"
	    "serial\0arena's serial number\0" },
	{ "ArenaCreateVM",
	    "an arena was made in virtual memory",
	    "arena\0the arena\0"
	    "userSize\0requested address space in bytes\0"
	    "chunkSize\0arena's chunk size in bytes\0"
	    "grainSize\0arena's grain size in bytes\0"
	    "arenaClass\0arena's class\0"
	    "systemPools\0number of system pools\0"
	    "serial\0arena's serial number\0" },
	{ "ArenaCreateVMNZ",
	    "an arena without zones was made in virtual memory",
	    "arena\0the arena\0"
	    "userSize\0requested address space in bytes\0"
	    "chunkSize\0arena's chunk size in bytes\0" },
	{ "ArenaDestroy",
	    "an arena is destroyed",
	    "arena\0the arena\0" },
	{ "ArenaExtend",
	    "an arena got another chunk of memory",
	    "arena\0the arena\0"
	    "base\0base of new chunk\0"
	    "size\0size of new chunk\0" },
	{ "ArenaFree",
	    "a pool gave memory back to its arena",
	    "arena\0the arena\0"
	    "base\0base of the freed block\0"
	    "size\0size of the freed block in bytes\0"
	    "pool\0pool that freed the block\0" },
	{ "ArenaGenZoneAdd",
	    "a generation takes up more zones",
	    "arena\0the arena\0"
	    "gen\0number of the generation\0"
	    "gendesc\0the generation\0"
	    "zoneSet\0its zones now\0" },
	{ "ArenaPoll",
	    "an arena is polled for work to do",
	    "arena\0the arena\0"
	    "start\0when the poll started, by mps_clock()\0"
	    "quanta\0quanta of work that were done\0"
	    "workWasDone\0any collection work done in poll?\0" },
	{ "ArenaPollBegin",
	    "an arena begins to be polled for work to do",
	    "arena\0arena about to be polled\0" },
	{ "ArenaPollEnd",
	    "an arena has been polled for work to do",
	    "arena\0arena that was polled\0"
	    "workWasDone\0any collection work done in poll?\0" },
	{ "ArenaSetEmergency",
	    "an arena goes into emergency mode, or leaves it",
	    "arena\0the arena\0"
	    "emergency\0emergency mode?\0" },
	{ "ArenaSetSpare",
	    "the limit of committed memory that is not in use is set",
	    "arena\0the arena\0"
	    "spare\0spare committed fraction\0" },
	{ "ArenaUseFreeZone",
	    "an arena takes zones that were free",
	    "arena\0the arena\0"
	    "zoneSet\0zones that aren't free any longer\0" },
	{ "ArenaWriteFaults",
	    "how often the write barrier was hit",
	    "arena\0the arena\0"
	    "writeBarrierHitCount\0hits since the arena was created\0" },
	{ "BufferCommit",
	    "an object that a buffer had reserved is committed",
	    "buffer\0the buffer\0"
	    "p\0committed object\0"
	    "size\0size of committed object\0"
	    "clientClass\0format's class of 0 if no format\0" },
	{ "BufferEmpty",
	    "a buffer gives up what is left of its block",
	    "buffer\0the buffer\0"
	    "spare\0remaining free memory\0" },
	{ "BufferFill",
	    "a buffer gets a block from its pool",
	    "buffer\0the buffer\0"
	    "size\0size of client request\0"
	    "base\0base of pool allocation\0"
	    "filled\0size of pool allocation\0" },
	{ "BufferFinish",
	    "a buffer is finished",
	    "buffer\0the buffer\0" },
	{ "BufferInit",
	    "a buffer is initialised",
	    "buffer\0the buffer\0"
	    "pool\0buffer's pool\0"
	    "isMutator\0belongs to client program?\0" },
	{ "BufferInitRank",
	    "a buffer of objects with references of a rank is initialised",
	    "buffer\0the buffer\0"
	    "pool\0buffer's pool\0"
	    "isMutator\0belongs to client program?\0"
	    "rank\0rank of references in buffer\0" },
	{ "BufferInitSeg",
	    "a buffer of segments is initialised",
	    "buffer\0the buffer\0"
	    "pool\0buffer's pool\0"
	    "isMutator\0belongs to client program?\0" },
	{ "BufferReserve",
	    "a buffer reserves memory for an object",
	    "buffer\0the buffer\0"
	    "init\0buffer's init pointer\0"
	    "size\0size of client request\0" },
	{ "CBSInit",
	    "a coalescing block structure is initialised",
	    "cbs\0the structure\0"
	    "owner\0what it belongs to\0" },
	{ "ChainCondemnAuto",
	    "generations of a chain are condemned",
	    "arena\0chain's arena\0"
	    "chain\0chain with gens being condemned\0"
	    "trace\0trace for which gens condemned\0"
	    "topCondemnedGenIndex\0condemned gens [0..this]\0"
	    "genCount\0total gens in chain\0"
	    "topCondemnedGenSerial\0condemned gens [0..this]\0" },
	{ "CommitLimitSet",
	    "the limit of committed memory is set",
	    "arena\0the arena\0"
	    "limit\0new commit limit\0"
	    "res\0result code\0"
	    "OK\0was the limit set?\0" },
	{ "EventClockSync",
	    "one instant on both clocks",
	    "clock\0mps_clock() value\0" },
	{ "EventInit",
	    "the version of the stream, and what it was written with",
	    "major\0EVENT_VERSION_MAJOR\0"
	    "median\0EVENT_VERSION_MEDIAN\0"
	    "minor\0EVENT_VERSION_MINOR\0"
	    "maxCode\0EventCodeMAX\0"
	    "maxNameLen\0EventNameMAX\0"
	    "wordWidth\0MPS_WORD_WIDTH\0"
	    "clocksPerSec\0mps_clocks_per_sec()\0" },
	{ "GenFinish",
	    "a generation is finished",
	    "arena\0generation's arena\0"
	    "gen\0the generation\0"
	    "serial\0serial number within arena\0" },
	{ "GenInit",
	    "a generation is initialised",
	    "arena\0generation's arena\0"
	    "gen\0the generation\0"
	    "serial\0serial number within arena\0"
	    "capacity\0capacity in bytes\0"
	    "mortality\0initial mortality estimate\0" },
	{ "GenZoneSet",
	    "the zones of a generation change",
	    "arena\0generation's arena\0"
	    "gen\0the generation\0"
	    "zoneSet\0generation's new summary\0" },
	{ "Intern",
	    "a string gets a number",
	    "stringId\0identifier of interned string\0"
	    "string\0the interned string\0" },
	{ "Label",
	    "an address gets a string as its label",
	    "address\0address\0"
	    "stringId\0string identifier of its label\0" },
	{ "LabelPointer",
	    "a pointer gets a string as its label",
	    "pointer\0pointer\0"
	    "stringId\0string identifier of its label\0" },
	{ "LandInit",
	    "a land, a set of address ranges, is initialised",
	    "land\0the land\0"
	    "owner\0owner pointer\0" },
	{ "MessagesDropped",
	    "messages were discarded",
	    "count\0count of messages dropped\0" },
	{ "MessagesExist",
	    "a message is in the queue",
	    "" },
	{ "MeterInit",
	    "a meter is initialised",
	    "meter\0the meter\0"
	    "owner\0owner pointer\0" },
	{ "MeterValues",
	    "what a meter has measured",
	    "meter\0the meter\0"
	    "total\0sum of metered amounts\0"
	    "meanSquared\0mean square of metered amounts\0"
	    "count\0number of metered amounts\0"
	    "max\0maximum metered amount\0"
	    "min\0minimum metered amount\0" },
	{ "PauseTimeSet",
	    "the longest pause is set",
	    "arena\0the arena\0"
	    "pauseTime\0the new maximum pause time, in seconds\0" },
	{ "PoolAlloc",
	    "a pool allocated an object",
	    "pool\0the pool\0"
	    "pReturn\0base of allocated memory\0"
	    "size\0size of client request\0" },
	{ "PoolFinish",
	    "a pool is finished",
	    "pool\0the pool\0"
	    "arena\0pool's arena\0" },
	{ "PoolFree",
	    "an object is freed, or a part of it",
	    "pool\0the pool\0"
	    "old\0base of freed memory\0"
	    "size\0size of client request\0" },
	{ "PoolInit",
	    "a pool is initialised",
	    "pool\0the pool\0"
	    "arena\0pool's arena\0"
	    "poolClass\0pool's class\0"
	    "serial\0pool's serial number within the arena\0" },
	{ "PoolInitAMC",
	    "a pool of automatic, mostly copied objects is initialised",
	    "pool\0the pool\0"
	    "format\0pool's format\0" },
	{ "PoolInitAMCZ",
	    "a pool of automatic, mostly copied leaf objects is initialised",
	    "pool\0the pool\0"
	    "format\0pool's format\0" },
	{ "PoolInitAMS",
	    "a pool of automatic objects, marked and swept, is initialised",
	    "pool\0the pool\0"
	    "format\0pool's format\0"
	    "arena\0the arena\0" },
	{ "PoolInitAWL",
	    "a pool of automatic weak objects is initialised",
	    "pool\0the pool\0"
	    "format\0pool's format\0" },
	{ "PoolInitLO",
	    "a pool of automatic leaf objects is initialised",
	    "pool\0the pool\0"
	    "format\0pool's format\0" },
	{ "PoolInitMFS",
	    "a pool of manual objects of a fixed size is initialised",
	    "pool\0the pool\0"
	    "extendBy\0size of extents\0"
	    "extendSelf\0automatically extend?\0"
	    "unitSize\0size of allocations\0"
	    "arena\0the arena\0" },
	{ "PoolInitMV",
	    "a pool of manual objects of varying size is initialised",
	    "pool\0the pool\0"
	    "arena\0the arena\0"
	    "extendBy\0size by which the pool is extended\0"
	    "avgSize\0expected size of blocks\0"
	    "maxSize\0largest expected size of blocks\0" },
	{ "PoolInitMVFF",
	    "a pool of manual objects, allocated by first fit, is initialised",
	    "pool\0the pool\0"
	    "extendBy\0size of extents\0"
	    "avgSize\0predicted mean size of blocks\0"
	    "align\0alignment of blocks\0"
	    "slotHigh\0allocate at high addresses within extents?\0"
	    "arenaHigh\0allocate extents at high addresses?\0"
	    "firstFit\0allocate from first free block?\0"
	    "arena\0the arena\0" },
	{ "PoolInitMVT",
	    "a pool of manual objects, allocated by their time, is initialised",
	    "pool\0the pool\0"
	    "minSize\0predicted minimum size of blocks\0"
	    "meanSize\0predicted mean size of blocks\0"
	    "maxSize\0predicted maximum size of blocks\0"
	    "reserveDepth\0reserve space for this many allocations\0"
	    "fragLimig\0fragmentation limit\0" },
	{ "PoolInitSNC",
	    "a pool of objects in stacks is initialised",
	    "pool\0the pool\0"
	    "format\0pool's format\0" },
	{ "ReservoirLimitSet",
	    "the size of the reservoir is set",
	    "arena\0the arena\0"
	    "size\0new size in bytes\0" },
	{ "RootScan",
	    "a root was scanned",
	    "root\0the root\0"
	    "ts\0scanning for this set of traces\0"
	    "summary\0summary after scan\0" },
	{ "SegAlloc",
	    "a segment was allocated",
	    "arena\0the arena\0"
	    "seg\0new segment\0"
	    "base\0base address\0"
	    "size\0segment size\0"
	    "pool\0pool making request\0" },
	{ "SegAllocFail",
	    "a segment could not be allocated",
	    "arena\0the arena\0"
	    "size\0requested segment size\0"
	    "pool\0pool making request\0"
	    "res\0result code\0" },
	{ "SegFree",
	    "a segment is freed",
	    "arena\0segment's arena\0"
	    "seg\0the segment\0" },
	{ "SegMerge",
	    "two segments become one",
	    "segLo\0low segment\0"
	    "segHi\0high segment\0"
	    "withReservoirPermit\0may use the reservoir?\0" },
	{ "SegReclaim",
	    "a segment is reclaimed",
	    "seg\0the segment\0"
	    "pool\0segment's pool\0"
	    "arena\0pool's arena\0"
	    "trace\0reclaiming for this trace\0" },
	{ "SegScan",
	    "a segment is scanned",
	    "seg\0the segment\0"
	    "pool\0segment's pool\0"
	    "arena\0pool's arena\0"
	    "ts\0scanning for this set of traces\0"
	    "rank\0scanning at this rank\0" },
	{ "SegSetGrey",
	    "a segment becomes grey, or is no longer, for some traces",
	    "arena\0segment's arena\0"
	    "seg\0the segment\0"
	    "grey\0greyen for this set of traces\0" },
	{ "SegSetSummary",
	    "the summary of the references in a segment changes",
	    "arena\0segment's arena\0"
	    "seg\0the segment\0"
	    "size\0its size in bytes\0"
	    "oldSummary\0old summary\0"
	    "newSummary\0new summary\0" },
	{ "SegSplit",
	    "a segment becomes two",
	    "seg\0old segment\0"
	    "segLo\0new low segment\0"
	    "segHi\0new high segment\0"
	    "at\0split address\0" },
	{ "SpareCommitLimitSet",
	    "the limit of committed memory that is not in use is set",
	    "arena\0the arena\0"
	    "limit\0new limit in bytes\0" },
	{ "TraceAccess",
	    "a segment behind a barrier was accessed",
	    "arena\0the arena\0"
	    "seg\0segment accessed\0"
	    "mode\0set of access modes\0" },
	{ "TraceBandAdvance",
	    "a trace goes on to the next rank",
	    "arena\0the arena\0"
	    "trace\0the trace\0"
	    "rank\0new rank\0"
	    "ti\0number of the trace\0" },
	{ "TraceCondemnAll",
	    "all that can be collected is condemned",
	    "arena\0trace's arena\0"
	    "trace\0trace\0" },
	{ "TraceCondemnZones",
	    "what lies in some zones is condemned",
	    "trace\0the trace\0"
	    "condemnedSet\0zones that are condemned\0"
	    "white\0zones that the trace condemned so far\0" },
	{ "TraceCreate",
	    "a trace is created",
	    "trace\0trace that was created\0"
	    "arena\0arena in which created\0"
	    "why\0reason for creation\0" },
	{ "TraceCreatePoolGen",
	    "a trace is created: one of the generations that there are",
	    "gen\0generation\0"
	    "capacity\0capacity of generation\0"
	    "mortality\0mortality of generation\0"
	    "zone\0zone set of generation\0"
	    "pool\0pool\0"
	    "totalSize\0total size of pool gen\0"
	    "freeSize\0free size of pool gen\0"
	    "newSize\0new size of pool gen\0"
	    "oldSize\0old size of pool gen\0"
	    "newDeferredSize\0new size (deferred) of pool gen\0"
	    "oldDeferredSize\0old size (deferred) of pool gen\0"
	    "gendesc\0the generation\0" },
	{ "TraceDestroy",
	    "a trace is destroyed",
	    "arena\0trace's arena\0"
	    "trace\0the trace\0" },
	{ "TraceEndGen",
	    "a trace ends: what became of a generation",
	    "arena\0the arena\0"
	    "trace\0the trace\0"
	    "gen\0the generation\0"
	    "condemned\0bytes condemned in generation\0"
	    "forwarded\0bytes forwarded from generation\0"
	    "preservedInPlace\0bytes preserved in generation\0"
	    "mortalityTrace\0mortality (in last trace only)\0"
	    "mortalityAverage\0mortality (moving average)\0"
	    "mortality\0share of it that died\0" },
	{ "TraceFindGrey",
	    "a trace found a grey segment to scan",
	    "arena\0trace's arena\0"
	    "trace\0the trace\0"
	    "seg\0grey segment found\0"
	    "rank\0current rank\0"
	    "ti\0number of the trace\0" },
	{ "TraceFix",
	    "a reference is fixed",
	    "ss\0the scan state\0"
	    "refIO\0pointer to reference\0"
	    "ref\0reference fixed\0"
	    "rank\0current rank\0" },
	{ "TraceFixSeg",
	    "a reference that is fixed points into a segment",
	    "seg\0the segment\0" },
	{ "TraceFixWhite",
	    "a reference that is fixed points to condemned memory",
	    "" },
	{ "TraceFlipBegin",
	    "a trace begins to flip: the mutator is stopped and roots are scanned",
	    "trace\0the trace\0"
	    "arena\0trace's arena\0" },
	{ "TraceFlipEnd",
	    "a trace has flipped",
	    "trace\0the trace\0"
	    "arena\0trace's arena\0" },
	{ "TraceReclaim",
	    "a trace reclaims what it condemned",
	    "trace\0the trace\0"
	    "arena\0trace's arena\0" },
	{ "TraceScanArea",
	    "an area of memory is scanned",
	    "ss\0the scan state\0"
	    "base\0base of scanned area\0"
	    "limit\0limit of scanned area\0" },
	{ "TraceScanAreaTagged",
	    "an area of memory with tagged references is scanned",
	    "ss\0the scan state\0"
	    "base\0base of scanned area\0"
	    "limit\0limit of scanned area\0" },
	{ "TraceScanSeg",
	    "a trace scans a segment",
	    "ts\0set of traces\0"
	    "rank\0rank of the references\0"
	    "arena\0the arena\0"
	    "seg\0the segment\0" },
	{ "TraceScanSingleRef",
	    "a trace scans one reference",
	    "ts\0set of traces\0"
	    "rank\0current rank\0"
	    "arena\0traces' arena\0"
	    "refIO\0pointer to reference\0" },
	{ "TraceStart",
	    "a trace starts",
	    "arena\0trace's arena\0"
	    "trace\0trace being started\0"
	    "mortality\0as passed to TraceStart\0"
	    "finishingTime\0as passed to TraceStart\0"
	    "condemned\0condemned bytes\0"
	    "notCondemned\0collectible but not condemned bytes\0"
	    "foundation\0foundation size\0"
	    "white\0white reference set\0"
	    "quantumWork\0tracing work to be done in each poll\0"
	    "rate\0segments to scan at each poll\0" },
	{ "TraceStartPoolGen",
	    "a trace starts: one of the generations that there are",
	    "chain\0chain of the generation; null for the top one\0"
	    "top\0is it the top generation?\0"
	    "index\0number of the generation in its chain\0"
	    "gendesc\0the generation\0"
	    "capacity\0its capacity\0"
	    "mortality\0share of it that is expected to die\0"
	    "zone\0its zones\0"
	    "pool\0pool with a part of the generation\0"
	    "serial\0its serial number\0"
	    "totalSize\0total size of the pool's part\0"
	    "newSizeAtCreate\0size of what is new in it\0" },
	{ "TraceStatCondemn",
	    "figures of a trace: what it condemned",
	    "trace\0the trace\0"
	    "condemned\0condemned size in bytes\0"
	    "notCondemned\0collectible size that is not condemned, in bytes\0"
	    "foundation\0size in bytes of what is grey at first\0"
	    "rate\0segments to scan at each poll\0"
	    "quantumWork\0work to do at each poll, in bytes\0"
	    "mortality\0share that is expected to die\0"
	    "finishingTime\0allocation in bytes by which to finish\0" },
	{ "TraceStatFix",
	    "figures of a trace: the references that it fixed",
	    "trace\0the trace\0"
	    "arena\0trace's arena\0"
	    "fixRefCount\0references which pass zone check\0"
	    "segRefCount\0references which refer to segments\0"
	    "whiteSegRefCount\0references which refer to white segments\0"
	    "nailCount\0segments nailed by ambiguous references\0"
	    "snapCount\0references snapped to forwarded objects\0"
	    "forwardedCount\0objects preserved by moving\0"
	    "forwardedSize\0bytes preserved by moving\0"
	    "preservedInPlaceCount\0objects preserved in place\0"
	    "preservedInPlaceSize\0bytes preserved in place\0" },
	{ "TraceStatReclaim",
	    "figures of a trace: what it reclaimed",
	    "trace\0the trace\0"
	    "arena\0trace's arena\0"
	    "reclaimCount\0segments reclaimed\0"
	    "reclaimSize\0bytes reclaimed\0" },
	{ "TraceStatScan",
	    "figures of a trace: what it scanned",
	    "trace\0the trace\0"
	    "arena\0trace's arena\0"
	    "rootScanCount\0number of roots scanned\0"
	    "rootScanSize\0total size of scanned roots\0"
	    "rootCopiedSize\0bytes copied by scanning roots \0"
	    "segScanCount\0number of segments scanned\0"
	    "segScanSize\0total size of scanned segments\0"
	    "segCopiedSize\0bytes copied by scanning segments\0"
	    "singleScanCount\0number of single references scanned\0"
	    "singleScanSize\0total size of single references scanned\0"
	    "singleCopiedSize\0bytes copied by scanning single references\0"
	    "readBarrierHitCount\0read barrier faults\0"
	    "greySegMax\0maximum number of grey segments\0"
	    "pointlessScanCount\0pointless segment scans\0" },
	{ "VMArenaExtendDone",
	    "an arena got a chunk of virtual memory",
	    "chunkSize\0request succeeded for chunkSize bytes\0"
	    "reserved\0new VMArenaReserved\0" },
	{ "VMArenaExtendFail",
	    "an arena got no chunk of virtual memory of a size",
	    "chunkMin\0no remaining address space chunk >= chunkMin\0"
	    "reserved\0current VMArenaReserved\0" },
	{ "VMArenaExtendStart",
	    "an arena begins to get a chunk of virtual memory",
	    "size\0size to accommodate\0"
	    "chunkSize\0chunkSize to try\0"
	    "reserved\0current VMArenaReserved\0" },
	{ "VMCompact",
	    "an arena gives spare chunks of virtual memory back",
	    "vmem0\0pre-collection reserved size\0"
	    "vmem1\0pre-compact reserved size\0"
	    "vmem2\0post-compact reserved size\0" },
	{ "VMCreate",
	    "virtual memory was reserved",
	    "vm\0the reserved memory\0"
	    "base\0base of the reserved address space\0"
	    "limit\0limit of the reserved address space\0" },
	{ "VMDestroy",
	    "virtual memory is given back",
	    "vm\0the reserved memory\0" },
	{ "VMFinish",
	    "virtual memory is given back",
	    "vm\0the VM\0" },
	{ "VMInit",
	    "virtual memory was reserved",
	    "vm\0the VM\0"
	    "base\0base of VM\0"
	    "limit\0limit of VM\0" },
	{ "VMMap",
	    "virtual memory was mapped",
	    "vm\0the VM\0"
	    "base\0base of mapped addresses\0"
	    "limit\0limit of mapped addresses\0" },
	{ "VMUnmap",
	    "virtual memory is unmapped",
	    "vm\0the VM\0"
	    "base\0base of unmapped addresses\0"
	    "limit\0limit of unmapped addresses\0" },
};
/* clang-format on */

/* The description of a field in a list of them; NULL: it is not there. */
static const char *
find_field(const char *p, const char *field)
{
	const char *doc;

	for (; *p != '\0'; p = doc + strlen(doc) + 1) {
		doc = p + strlen(p) + 1;
		if (strcmp(p, field) == 0)
			return doc;
	}
	return NULL;
}

const char *
tel__mps_doc(const char *type, const char *field)
{
	size_t i;

	for (i = 0; i < sizeof(docs) / sizeof(docs[0]); i++)
		/* some have another case in old releases */
		if (((docs[i].type[0] ^ type[0]) & 0x1f) == 0 &&
		    strcasecmp(docs[i].type, type) == 0)
			return field == NULL ?
			    docs[i].doc :
			    find_field(docs[i].fields, field);
	return NULL;
}
