"""Optimisers, and schedules of their step sizes."""

from vkml_nn import schedules as lr_scheduler
from vkml_nn.optimizers.adam import Adam, AdamW
from vkml_nn.optimizers.optimizer import Optimizer
from vkml_nn.optimizers.rmsprop import RMSprop
from vkml_nn.optimizers.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
