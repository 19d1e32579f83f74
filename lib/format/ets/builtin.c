/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of Singularity's kernel and services, in TMF: providers and
 * types as the Research Development Kits 1.1 and 2 have them.  A text comes
 * behind five words, which are 0 unless they have a name here.
 */
#include "format/ets/ets.h"

/* Words that nothing is said in. */
#define W1 "Dummy, ItemULong\n"
#define W4 W1 W1 W1 W1
#define W5 W4 W1

const char *const tel__ets_builtin[] = {
	"1 SysInfo\n"
	"#type CpuSpeed 1\n{\nHz, ItemLongLong\n}\n"
	"#type ContractName 2\n{\nTag, ItemULong\n" W4 "Name, ItemString\n}\n"
	"#type ProcessInfo 3\n{\nId, ItemULong\n" W4 "Name, ItemString\n}\n"
	"#type ThreadInfo 4\n{\nId, ItemULong\nPid, ItemULong\n}\n",

	"3 Cassini\n"
	"#type URI 1\n{\n" W5 "URI, ItemString\n}\n",

	"5 Shell\n"
	"#type Command 1\n{\n" W5 "Text, ItemString\n}\n",

	"8 Endpoint\n"
	"#type Dispose 1\n#type Notify 10\n{\nChannelId, ItemLong\n}\n"
	"#type Select 2\n{\n}\n"
	"#type RetrieveHook 6\n#type DeliverHook 7\n"
	"{\nMessageTag, ItemLong\nChannelId, ItemLong\n"
	"ContractTag, ItemULong\n}\n",

	"9 ChannelService\n"
	"#type TransferBlockOwnership 1\n"
	"{\nChannelId, ItemLong\nDestPID, ItemULong\n}\n"
	"#type TransferContentOwnership 2\n"
	"{\nFromPID, ItemULong\nDestPID, ItemULong\nChannelIdFrom, ItemLong\n"
	"ChannelIdTo, ItemLong\nChannelIdPeer, ItemLong\n}\n",

	"10 WaitHandle\n"
	"#type WaitDone 10\n{\nHandleID, ItemLong\nTID, ItemULong\n}\n",

	"11 AutoResetEvent\n"
	"#type Acquire 1\n#type Enqueue 2\n"
	"{\nHandleID, ItemLong\nTID, ItemULong\n}\n",

	"12 Mutex\n"
	"#type AcquireAgain 1\n#type Acquire 2\n#type Enqueue 3\n"
	"{\nHandleID, ItemLong\nDestTID, ItemULong\n}\n",

	"13 ManualResetEvent\n"
	"#type Acquire 1\n#type Enqueue 2\n"
	"{\nHandleID, ItemLong\nDestTID, ItemULong\n}\n",

	"14 EndpointCore\n"
	"#type Connect 4\n{\nChannelId, ItemLong\n}\n"
	"#type TransferToProcess 5\n"
	"{\nChannelId, ItemLong\nDestPID, ItemULong\n}\n",

	"19 Process\n"
	"#type CreateKernelProcess 1\n#type ImageLoad 3\n"
	"{\n" W5 "Name, ItemString\n}\n"
	"#type CreateUserProcess 2\n{\nPID, ItemLong\nParentPID, ItemLong\n}\n",

	"20 Thread\n"
	"#type SwitchTo 3\n#type CreateIdle 12\n#type Create 13\n"
	"{\nDestTID, ItemULong\n}\n"
	"#type CreateInitial 10\n{\n}\n"
	"#type WaitAny 30\n#type WaitFail 31\n"
	"{\nTimeout, ItemLongLong\nDestTID, ItemULong\n}\n",

	"21 DiskIo\n"
	"#type StartRead 0\n#type StartWrite 1\n"
	"#type EndRead 2\n#type EndWrite 3\n"
	"{\nSector, ItemULong\nLength, ItemULong\nDiskId, ItemULong\n"
	"BufferAddr, ItemULong\n}\n"
	"#type NewDiskName 4\n{\n" W5 "Name, ItemString\n}\n"
	"#type NewDiskId 5\n{\nDiskId, ItemULong\n}\n",

	"22 WebServer\n"
	"#type ProcessRequest 1\n{\n" W5 "URI, ItemString\n}\n",

	"23 Directory\n"
	"#type DoBind 1\n#type DoGetAttributes 2\n#type DoCreateDirectory 3\n"
	"#type DoCreateFile 4\n#type DoDeleteDirectory 5\n"
	"#type DoDeleteLink 6\n#type DoGetLinkValue 7\n#type DoCreateLink 8\n"
	"{\n" W5 "Name, ItemString\n}\n",

	"25 GC\n"
	"#type StartStopTheWorld 1\n#type EndStopTheWorld 2\n"
	"#type StartCollection 3\n#type EndCollection 4\n{\n}\n",

	"26 Iso9660\n"
	"#type StartRead 1\n#type StopRead 2\n#type CacheHit 3\n"
	"#type ProcessRequest 4\n#type StartTrackEndpoint 5\n"
	"#type StopTrackEndpoint 6\n#type StartBind 7\n#type CacheMiss 8\n"
	"#type StopBind 9\n{\n}\n",

	"30 Processor\n"
	"#type Exception 0\n{\nVector, ItemULong\n}\n"
	"#type Resume 1\n{\nDestTID, ItemULong\n}\n"
	"#type Interrupt 2\n{\nIrq, ItemULong\n}\n",
};

const unsigned tel__ets_nbuiltin =
    sizeof(tel__ets_builtin) / sizeof(tel__ets_builtin[0]);
