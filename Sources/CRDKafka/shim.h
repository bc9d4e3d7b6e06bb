// librdkafka, the Kafka client. Only the target `Kafka` imports this.
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
