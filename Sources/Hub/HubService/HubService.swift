import HubStore
