// librdkafka, the Kafka client. Only the target `Kafka` imports this.
#pragma once
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdint.h>

// rd_kafka_producev() is variadic, which Swift cannot call. Key, value and headers may be NULL; a zero timestamp means now.
// The library copies key and value, and owns the headers from a successful call on, only then.
static inline rd_kafka_resp_err_t pushfan_rdkafka_produce(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition, const void *key, size_t key_size, const void *value,
    size_t value_size, int64_t timestamp, rd_kafka_headers_t *headers) {
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY((void *)key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_TIMESTAMP(timestamp),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
}

// The same, for a record with a delivery report: its opaque carries `number`, which is not 0, and is never followed as a pointer.
static inline rd_kafka_resp_err_t pushfan_rdkafka_produce_reported(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition, const void *key, size_t key_size, const void *value,
    size_t value_size, int64_t timestamp, rd_kafka_headers_t *headers, uintptr_t number) {
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY((void *)key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_TIMESTAMP(timestamp),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE((void *)number), RD_KAFKA_V_END);
}
