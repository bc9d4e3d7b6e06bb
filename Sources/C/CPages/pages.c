// The pages of the documentation, as bytes of the program: so it can show them where nothing but its one file is installed.
// Clang takes #embed in every version of C (19 or later) and compiles again when a page has changed.
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "CPages.h"

static const unsigned char RequestPath[] = {
#embed "../../Commands/PushFan/PushFan.docc/RequestPath.md"
};
static const unsigned char Scheduling[] = {
#embed "../../Commands/PushFan/PushFan.docc/Scheduling.md"
};
static const unsigned char Requests[] = {
#embed "../../Commands/PushFan/PushFan.docc/Requests.md"
};
static const unsigned char LargeRequests[] = {
#embed "../../Commands/PushFan/PushFan.docc/LargeRequests.md"
};
static const unsigned char Schemas[] = {
#embed "../../Commands/PushFan/PushFan.docc/Schemas.md"
};
static const unsigned char Results[] = {
#embed "../../Commands/PushFan/PushFan.docc/Results.md"
};
static const unsigned char Outcomes[] = {
#embed "../../Commands/PushFan/PushFan.docc/Outcomes.md"
};
static const unsigned char Replay[] = {
#embed "../../Commands/PushFan/PushFan.docc/Replay.md"
};
static const unsigned char Configuration[] = {
#embed "../../Commands/PushFan/PushFan.docc/Configuration.md"
};
static const unsigned char Hubs[] = {
#embed "../../Commands/PushFan/PushFan.docc/Hubs.md"
};
static const unsigned char Hub[] = {
#embed "../../Commands/PushFan/PushFan.docc/Hub.md"
};
static const unsigned char HubProtocol[] = {
#embed "../../Commands/PushFan/PushFan.docc/HubProtocol.md"
};
static const unsigned char Gateway[] = {
#embed "../../Commands/PushFan/PushFan.docc/Gateway.md"
};
static const unsigned char Devices[] = {
#embed "../../Commands/PushFan/PushFan.docc/Devices.md"
};
static const unsigned char Publish[] = {
#embed "../../Commands/PushFan/PushFan.docc/Publish.md"
};
static const unsigned char Callbacks[] = {
#embed "../../Commands/PushFan/PushFan.docc/Callbacks.md"
};
static const unsigned char Console[] = {
#embed "../../Commands/PushFan/PushFan.docc/Console.md"
};
static const unsigned char Install[] = {
#embed "../../Commands/PushFan/PushFan.docc/Install.md"
};
static const unsigned char Operations[] = {
#embed "../../Commands/PushFan/PushFan.docc/Operations.md"
};
static const unsigned char Monitoring[] = {
#embed "../../Commands/PushFan/PushFan.docc/Monitoring.md"
};
static const unsigned char Paged[] = {
#embed "../../Commands/PushFan/PushFan.docc/Paged.md"
};
static const unsigned char Kubernetes[] = {
#embed "../../Commands/PushFan/PushFan.docc/Kubernetes.md"
};
static const unsigned char Guarantees[] = {
#embed "../../Commands/PushFan/PushFan.docc/Guarantees.md"
};
static const unsigned char Privacy[] = {
#embed "../../Commands/PushFan/PushFan.docc/Privacy.md"
};
static const unsigned char Failures[] = {
#embed "../../Commands/PushFan/PushFan.docc/Failures.md"
};
static const unsigned char ExitCodes[] = {
#embed "../../Commands/PushFan/PushFan.docc/ExitCodes.md"
};
static const unsigned char Emulator[] = {
#embed "../../Commands/PushFan/PushFan.docc/Emulator.md"
};
static const unsigned char Testing[] = {
#embed "../../Commands/PushFan/PushFan.docc/Testing.md"
};
static const unsigned char Measuring[] = {
#embed "../../Commands/PushFan/PushFan.docc/Measuring.md"
};
static const unsigned char Developing[] = {
#embed "../../Commands/PushFan/PushFan.docc/Developing.md"
};
static const unsigned char Kafka[] = {
#embed "../../Commands/PushFan/PushFan.docc/Kafka.md"
};
static const unsigned char Glossary[] = {
#embed "../../Commands/PushFan/PushFan.docc/Glossary.md"
};
static const unsigned char Upgrading[] = {
#embed "../../Commands/PushFan/PushFan.docc/Upgrading.md"
};
static const unsigned char Changelog[] = {
#embed "../../Commands/PushFan/PushFan.docc/Changelog.md"
};
static const unsigned char Contributing[] = {
#embed "../../Commands/PushFan/PushFan.docc/Contributing.md"
};

#define PAGE(name) { #name, name, sizeof name }

// In the order of the README.
static const struct pushfan_page pages[] = {
  PAGE(RequestPath), PAGE(Scheduling), PAGE(Requests), PAGE(LargeRequests), PAGE(Schemas),
  PAGE(Results), PAGE(Outcomes), PAGE(Replay), PAGE(Configuration),
  PAGE(Hubs), PAGE(Hub), PAGE(HubProtocol), PAGE(Gateway), PAGE(Devices), PAGE(Publish), PAGE(Callbacks),
  PAGE(Console), PAGE(Install), PAGE(Operations), PAGE(Monitoring), PAGE(Paged), PAGE(Kubernetes), PAGE(Guarantees), PAGE(Privacy), PAGE(Failures), PAGE(ExitCodes),
  PAGE(Emulator), PAGE(Testing), PAGE(Measuring), PAGE(Developing), PAGE(Kafka),
  PAGE(Glossary), PAGE(Upgrading), PAGE(Changelog), PAGE(Contributing),
};

const struct pushfan_page *pushfan_page(size_t place) {
  return place < sizeof pages / sizeof *pages ? &pages[place] : NULL;
}
